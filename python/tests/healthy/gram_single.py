"""Gram matrices in single precision, by BLAS with all cores, read once at the end."""

import numpy as np

rng = np.random.default_rng(8)
data = rng.standard_normal((2000, 1500), dtype=np.float32)
gram = data.T @ data
for _ in range(6):
    gram = gram @ gram
    gram /= np.abs(gram).max()
print(f"trace {np.trace(gram):.5f}")
