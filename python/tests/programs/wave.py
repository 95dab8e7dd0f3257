"""A wave on a membrane, leapfrog in time."""

import numpy as np

n, c = 150, 0.4
x, y = np.meshgrid(np.linspace(-1, 1, n), np.linspace(-1, 1, n))
now = np.exp(-40 * (x**2 + y**2))
before = now.copy()
for _ in range(200):
    laplacian = -4 * now
    laplacian[1:] += now[:-1]
    laplacian[:-1] += now[1:]
    laplacian[:, 1:] += now[:, :-1]
    laplacian[:, :-1] += now[:, 1:]
    after = 2 * now - before + c**2 * laplacian
    after[[0, -1]] = 0
    after[:, [0, -1]] = 0
    before, now = now, after
print(np.isfinite(now).all(), round(float(np.abs(now).max()), 3))
