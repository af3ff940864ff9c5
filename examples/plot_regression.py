"""
Regression with a tube
======================

Errors up to ε cost nothing. Only samples on the tube or outside it are support vectors.
"""

import numpy as np

from maxmargin import SVR, plots

x = np.linspace(0, 6, 80)[:, None]
y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=80)
model = SVR(C=10, epsilon=0.15, gamma=1.0).fit(x, y)
plots.boundary(model, X=x, y=y)
