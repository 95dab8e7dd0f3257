import cupy as cp
import numpy as np

weights = np.ones((1000, 1000), dtype=np.float32)
v = cp.ones((1000, 8), dtype=cp.float32)
for _ in range(300):
    v = cp.asarray(weights) @ v / 1000
print(float(v.sum()))
