"""A simulation that fetches its whole field after each step, to look at it.

main reason on t4: transfer-bound
"""

import cupy as cp
import numpy as np

field = cp.ones((2000, 2000))
peak = np.zeros((2000, 2000))
for step in range(15):
    field = field * 0.99 + 0.01
    peak[:] = cp.asnumpy(field)
print(float(peak[0, 0]))
