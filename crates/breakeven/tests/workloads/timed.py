"""The clock is read without waiting for the GPU, the first time around first use."""
import time

import cupy as cp

a = cp.full((2000, 2000), 0.0005, dtype=cp.float32)
began = time.perf_counter()
b = a @ a
print("first", time.perf_counter() - began)
began = time.perf_counter()
for _ in range(20):
    b = a @ b
print("twenty", time.perf_counter() - began)
