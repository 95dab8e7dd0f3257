"""An ensemble of Lorenz systems started close together."""

import numpy as np

n = 2000
xyz = np.ones((n, 3)) + 1e-6 * np.arange(n)[:, None]


def velocity(p):
    x, y, z = p.T
    return np.column_stack((10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z))


for step in range(400):
    middle = xyz + 0.005 * velocity(xyz)
    xyz += 0.01 * velocity(middle)
spread = xyz.std(axis=0)
print(np.all(np.isfinite(xyz)), (spread > 0).tolist())
