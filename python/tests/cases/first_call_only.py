"""A single small product: context, libraries and kernels are loaded for it alone.

main reason on t4: start-up-bound
"""

import cupy as cp

a = cp.ones((500, 500), dtype=cp.float32)
print(float((a @ a).sum()))
