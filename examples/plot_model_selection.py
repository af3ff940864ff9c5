"""
Choosing C and gamma
====================

One kernel matrix for each gamma serves all folds and all values of C.
"""

from maxmargin import SVCCV
from maxmargin.data import toys

search = SVCCV(Cs=[0.1, 1, 10, 100], gammas=[0.1, 1, 10], cv=5).fit(*toys.moons())
print(search.summary())
search.plot()
