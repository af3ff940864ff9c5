"""Models: saved, loaded, and exchanged with LIBSVM, LIBLINEAR and ONNX.

>>> save(model_of(result), "fit.mm")
>>> load("fit.mm").predict(Z)
"""

from __future__ import annotations

from maxmargin.models.build import model_of
from maxmargin.models.formats import FORMATS, load, save
from maxmargin.models.model import Model

__all__ = ["FORMATS", "Model", "load", "model_of", "save"]
