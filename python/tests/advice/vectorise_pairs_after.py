import numpy as np

points = np.random.default_rng(0).random((400, 3))
n = len(points)
distances = np.sqrt(np.sum((points[:, None] - points[None]) ** 2, axis=2))
print(distances.mean())
