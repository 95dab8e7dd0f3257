import numpy as np

rng = np.random.default_rng(0)
points = rng.random((20_000, 8))
centres = rng.random((10, 8))
nearest = np.zeros(20_000, int)
for i in range(len(points)):
    d = np.zeros(10)
    for k in range(10):
        d[k] = np.sqrt(np.sum((points[i] - centres[k]) ** 2))
    nearest[i] = np.argmin(d)
print(nearest.sum() > 0)
