"""Escape times of the Mandelbrot set on a grid."""

import numpy as np


def escape_times(width, height, limit):
    x = np.linspace(-2.2, 0.8, width)
    y = np.linspace(-1.2, 1.2, height)
    c = x[np.newaxis, :] + 1j * y[:, np.newaxis]
    z = np.zeros_like(c)
    count = np.zeros(c.shape, dtype=int)
    for _ in range(limit):
        alive = np.abs(z) <= 2.0
        z[alive] = z[alive] ** 2 + c[alive]
        count += alive
    return count


times = escape_times(300, 200, 40)
print(times.sum(), times.max(), np.bincount(times.ravel())[:5])
