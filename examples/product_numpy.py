"""The product of two 2000×2000 matrices of float64 by NumPy, timed; `product_cupy.py` is the same on the GPU."""

import time

import numpy as np

n = 2000
rng = np.random.default_rng(0)
a, b = rng.random((n, n)), rng.random((n, n))

began = time.perf_counter()
c = a @ b
took = time.perf_counter() - began

# A product of its own would take as long again; by a vector it can be checked at once.
x = rng.random(n)
print("as a @ (b @ x):", np.allclose(c @ x, a @ (b @ x)))
print(f"{took:.4f} s, {2 * n**3 / took / 1e9:.1f} GFLOP/s")
