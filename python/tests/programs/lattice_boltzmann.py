"""Flow around a disc by the D2Q9 lattice Boltzmann method."""

import numpy as np

nx, ny, tau = 120, 40, 0.6
cx = np.array([0, 0, 1, 1, 1, 0, -1, -1, -1])
cy = np.array([0, 1, 1, 0, -1, -1, -1, 0, 1])
weight = np.array([4 / 9] + [1 / 9, 1 / 36] * 4)
rng = np.random.default_rng(4)
f = np.ones((ny, nx, 9)) + 0.01 * rng.standard_normal((ny, nx, 9))
f[:, :, 3] += 2.0
y, x = np.indices((ny, nx))
disc = (x - nx / 4) ** 2 + (y - ny / 2) ** 2 < (ny / 8) ** 2
for _ in range(60):
    for i in range(9):
        f[:, :, i] = np.roll(np.roll(f[:, :, i], cx[i], axis=1), cy[i], axis=0)
    bounced = f[disc][:, [0, 5, 6, 7, 8, 1, 2, 3, 4]]
    density = f.sum(axis=2)
    ux = (f * cx).sum(axis=2) / density
    uy = (f * cy).sum(axis=2) / density
    f[disc] = bounced
    ux[disc] = 0
    uy[disc] = 0
    equal = np.empty_like(f)
    for i in range(9):
        cu = cx[i] * ux + cy[i] * uy
        equal[:, :, i] = density * weight[i] * (1 + 3 * cu + 4.5 * cu**2 - 1.5 * (ux**2 + uy**2))
    f += -(1 / tau) * (f - equal)
print(np.isfinite(f).all(), round(float(density.mean()), 2) > 0)
