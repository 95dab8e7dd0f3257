import sys

import numpy as np

c = np.ones(3)
print(sys.getrefcount(c))
