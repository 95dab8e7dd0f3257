"""One addition per element, copied to the GPU for it and back."""
import cupy as cp
import numpy as np

a = np.random.default_rng(0).random(20_000_000)
for _ in range(40):
    b = cp.asnumpy(cp.asarray(a) + 1.0)
print(b.sum())
