"""CuPy: the matrix is made on the GPU, vectors stay there, and convergence is asked for every fiftieth step."""

import cupy as cp

a = cp.random.rand(4096, 4096, dtype=cp.float32)
x = cp.ones(4096, dtype=cp.float32)
for step in range(100):
    x = a @ x
    x /= cp.linalg.norm(x)
    if step % 50 == 49 and float(cp.linalg.norm(a @ x - (x @ (a @ x)) * x)) < 1e-3:
        break
print(cp.asnumpy(x[:3]).shape)
