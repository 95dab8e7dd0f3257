import warnings

import numpy as np

a = np.array([1.0, 0.0])
print(a / 0)
print(np.log(-a))
warnings.warn("mine", DeprecationWarning)
print(1 is 1, "\d")
