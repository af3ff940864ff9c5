"""
Weak and strong duality
=======================

G(w, α) of a single sample: the smallest of its upper values is the largest of its lower ones.
"""

from maxmargin import plots

plots.saddle(x=1.5, y=1, lam=1.0)
