"""The same with a warm-up before the clock and a wait before it is read."""
import time

import cupy as cp

a = cp.full((2000, 2000), 0.0005, dtype=cp.float32)
b = a @ a
cp.cuda.Device().synchronize()
began = time.perf_counter()
for _ in range(20):
    b = a @ b
cp.cuda.Device().synchronize()
print("twenty", time.perf_counter() - began)
