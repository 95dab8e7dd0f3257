"""The product of two 2000×2000 matrices of float64 by CuPy, timed as it must be: the call comes back before the GPU is
done, so the clock waits for it."""

import time

import cupy as cp
import numpy as np

n = 2000
rng = np.random.default_rng(0)
a, b = rng.random((n, n)), rng.random((n, n))
a_gpu, b_gpu = cp.asarray(a), cp.asarray(b)

cp.matmul(a_gpu, b_gpu)  # the first call loads the library
cp.cuda.Stream.null.synchronize()

began = time.perf_counter()
c_gpu = cp.matmul(a_gpu, b_gpu)
cp.cuda.Stream.null.synchronize()
took = time.perf_counter() - began

c = cp.asnumpy(c_gpu)
x = rng.random(n)
print("as a @ (b @ x):", np.allclose(c @ x, a @ (b @ x)))
print(f"{took:.4f} s, {2 * n**3 / took / 1e9:.1f} GFLOP/s")
