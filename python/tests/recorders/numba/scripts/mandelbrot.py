"""How long points of the plane stay near."""

import numpy as np
from numba import njit


@njit
def escapes(x, y, most):
    a, b = 0.0, 0.0
    for n in range(most):
        a2, b2 = a * a, b * b
        if a2 + b2 > 4.0:
            return n
        b = 2.0 * a * b + y
        a = a2 - b2 + x
    return most


@njit
def picture(out, most):
    height, width = out.shape
    for i in range(height):
        y = -1.5 + 3.0 * i / height
        for j in range(width):
            x = -2.0 + 3.0 * j / width
            out[i, j] = escapes(x, y, most)


out = np.zeros((60, 80), np.int64)
picture(out, 100)
print(out.sum(), out.max())
