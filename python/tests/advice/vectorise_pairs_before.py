import numpy as np

points = np.random.default_rng(0).random((400, 3))
n = len(points)
distances = np.empty((n, n))
for i in range(n):
    for j in range(n):
        distances[i, j] = np.sqrt(np.sum((points[i] - points[j]) ** 2))
print(distances.mean())
