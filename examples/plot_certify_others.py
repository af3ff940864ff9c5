"""
The certificate of another library's answer
===========================================

Dual coefficients of any library are a dual point. Here those of scikit-learn, for three of its tolerances.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.svm import SVC

from maxmargin import Iterate, Problem, certify
from maxmargin.data import toys
from maxmargin.kernels import RBF

X, y = toys.moons()
problem = Problem(X, y, kernel=RBF(1.0), C=10.0)
tolerances = (1e-1, 1e-2, 1e-3, 1e-4)
gaps = []
for tol in tolerances:
    fitted = SVC(C=10.0, gamma=1.0, tol=tol).fit(X, y)
    beta = np.zeros(len(y))
    beta[fitted.support_] = fitted.dual_coef_[0]
    gaps.append(certify(problem, Iterate(beta=beta)).relative_gap)

figure, ax = plt.subplots(figsize=(5, 3.5), layout="constrained")
ax.loglog(tolerances, gaps, marker="o")
ax.set(xlabel="tol of the other library", ylabel="certified relative gap")
plt.show()
