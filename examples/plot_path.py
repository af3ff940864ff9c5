"""
A path of C
===========

One certified fit for each C, each from where the last one ended.
"""

import numpy as np

from maxmargin import C_path
from maxmargin.data import toys

path = C_path(*toys.breast_cancer(), np.logspace(-3, 2, 11))
print(path)
path.plot()
