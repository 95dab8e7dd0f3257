"""Principal components by the SVD and by the covariance."""

import numpy as np

rng = np.random.default_rng(2)
samples = rng.normal(size=(600, 40)) @ rng.normal(size=(40, 40))
centred = samples - samples.mean(axis=0)
u, s, vt = np.linalg.svd(centred, full_matrices=False)
variance = s**2 / (len(samples) - 1)
values, vectors = np.linalg.eigh(np.cov(centred, rowvar=False))
order = np.argsort(values)[::-1]
explained = np.cumsum(variance) / variance.sum()
projected = centred @ vt[:5].T
print(np.allclose(values[order], variance), projected.shape, int(np.searchsorted(explained, 0.9)))
