"""A function of each element, with a scalar among the arguments."""

import math

import numpy as np
from numba import vectorize


@vectorize(["float64(float64, float64, float64)"])
def wave(x, y, k):
    return math.sin(k * x) * y + 1.0


@vectorize
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


x = np.linspace(0.0, 1.0, 3000).reshape(50, 60)
print(wave(x, x[0], 2.0).sum().round(6))
print(collatz(np.arange(1, 301)).sum())
