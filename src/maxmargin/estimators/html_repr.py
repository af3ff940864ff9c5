"""How notebooks show an estimator: scikit-learn's diagram with a link to its page, and the certificate of its fit."""

from __future__ import annotations

from functools import cache
from importlib import metadata
from typing import Any

from sklearn import get_config
from sklearn.utils import estimator_html_repr


class HTMLRepr:
    """The HTML of an estimator; before `BaseEstimator` among the bases."""

    _doc_link_module = "maxmargin"

    @property
    def _doc_link_template(self) -> str:
        address = documentation()
        return f"{address}/generated/maxmargin.{{estimator_name}}.html" if address else ""

    def _html_repr(self) -> str:
        from maxmargin.notebook import html_of

        proof = getattr(self, "certificate_", None)
        shown = estimator_html_repr(self)
        if proof is not None:
            return shown + html_of(proof)
        return shown + html_of(self) if hasattr(self, "best_params_") else shown

    def _repr_html_inner(self) -> str:
        return self._html_repr()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            shown["text/html"] = self._html_repr()
        return shown


@cache
def documentation() -> str:
    """The address of the documentation, as the package's metadata has it; empty where there is none."""
    try:
        addresses = metadata.metadata("maxmargin").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return ""
    named = dict(one.split(", ", 1) for one in addresses)
    return named.get("Documentation", "").rstrip("/")
