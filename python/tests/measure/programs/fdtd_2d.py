"""A wave's electric and magnetic field on a grid, by finite differences."""
import numpy as np

def kernel(steps, ex, ey, hz, fict):
    for t in range(steps):
        ey[0, :] = fict[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])

nx, ny, steps = 50, 60, 30
i, j = np.meshgrid(np.arange(nx), np.arange(ny), indexing="ij")
ex, ey, hz = (i * (j + 1)) / nx, (i * (j + 2)) / ny, (i * (j + 3)) / nx
fict = np.arange(steps, dtype=float)
kernel(steps, ex, ey, hz, fict)
print(np.sum(hz ** 2), hz[3, 4], hz.min())
