"""A 4×4 array added to itself a hundred thousand times: each addition depends on the last.

main reason on t4: launch-bound
"""

import cupy as cp

b = cp.ones((4, 4))
for _ in range(30_000):
    b += 1e-9
print(float(b.sum()) > 0)
