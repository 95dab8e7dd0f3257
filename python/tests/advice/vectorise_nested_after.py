import numpy as np

rng = np.random.default_rng(0)
points = rng.random((20_000, 8))
centres = rng.random((10, 8))
d = np.sqrt(np.sum((points[:, None, :] - centres) ** 2, axis=2))
nearest = np.zeros(20_000, int)
nearest[:] = np.argmin(d, axis=1)
print(nearest.sum() > 0)
