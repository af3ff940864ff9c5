"""
Losses, slopes and conjugates
=============================

Every loss is one file with six short methods; its conjugate makes the dual.
"""

from maxmargin import plots

plots.losses()
