"""Principal components of 3000 samples of 1000 features, by singular values.

Expect: close: a factorisation in float64 is where GPUs with a slow double rate lose.
"""
import numpy as np

rng = np.random.default_rng(11)
basis = rng.standard_normal((20, 1000))
data = rng.standard_normal((3000, 20)) @ basis + 0.1 * rng.standard_normal((3000, 1000))
data -= data.mean(axis=0)
u, s, vt = np.linalg.svd(data, full_matrices=False)
explained = s**2 / (s**2).sum()
print(f"20 components explain {explained[:20].sum():.4f}")
