"""Heat in a plate, by threads."""

import numpy as np
from numba import njit, prange


@njit(parallel=True)
def heat(u, v, steps):
    for _ in range(steps):
        for i in prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        u, v = v, u
    return u


u = np.zeros((120, 90))
u[0] = 100.0
print(heat(u, u.copy(), 20).sum().round(6))
