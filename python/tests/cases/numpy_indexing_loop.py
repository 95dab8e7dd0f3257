"""`a[i, j]` element by element in Python is slow in NumPy and far slower in CuPy.
(Said beforehand: launch-bound. NumPy gives numbers out, though, and a port that does has to wait for each.)

main reason on t4: synchronisation-bound
"""

import numpy as np

a = np.random.default_rng(0).random((120, 120))
out = np.zeros_like(a)
for i in range(1, 119):
    for j in range(1, 119):
        out[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1] - 4 * a[i, j]
print(out.shape)
