"""Points in a circle, and walks that end at random."""

import numpy as np
from numba import njit


@njit
def seed(n):
    np.random.seed(n)


@njit
def circle(n):
    inside = 0
    for _ in range(n):
        x = np.random.random()
        y = np.random.random()
        if x * x + y * y < 1.0:
            inside += 1
    return 4.0 * inside / n


@njit
def walks(ends):
    for i in range(ends.size):
        steps, place = 0, 0.0
        while abs(place) < 3.0:
            place += np.random.normal()
            steps += 1
        ends[i] = steps


seed(7)
print(round(circle(20000), 6))
ends = np.zeros(500, np.int64)
walks(ends)
print(ends.sum(), round(circle(10), 6))
