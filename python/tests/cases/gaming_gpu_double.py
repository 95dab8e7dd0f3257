"""A gaming GPU multiplies NumPy's double-precision matrices hardly faster than the CPU.

main reason on rtx-4090: float64-rate
"""

import numpy as np

rng = np.random.default_rng(0)
a = rng.random((1500, 1500))
for _ in range(4):
    a = a @ a
    a /= np.abs(a).max()
print(a.shape)
