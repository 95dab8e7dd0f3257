"""Roots by bisection: each search ends when it is close enough."""

import numpy as np
from numba import njit


@njit
def roots(a, out, rounds):
    for i in range(a.size):
        low, high = 0.0, 100.0
        n = 0
        while True:
            middle = 0.5 * (low + high)
            if high - low < 1e-9 * a[i]:
                break
            if middle * middle > a[i]:
                high = middle
            else:
                low = middle
            n += 1
        out[i] = middle
        rounds[i] = n


a = np.linspace(1.0, 900.0, 400)
out, rounds = np.zeros(400), np.zeros(400, np.int64)
roots(a, out, rounds)
print(out.sum().round(6), rounds.sum())
