"""A simulation that fetches its whole field after each step, to look at it.

main reason on t4: transfer-bound
"""

import cupy as cp
import numpy as np

field = cp.ones((2000, 2000))
middle = np.zeros(15)
for step in range(15):
    field = field * 0.99 + 0.01
    middle[step] = cp.asnumpy(field)[1000, 1000]
print(middle.max())
