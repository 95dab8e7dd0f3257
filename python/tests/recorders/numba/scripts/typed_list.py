"""A list of numbers that Numba knows."""

import numpy as np
from numba import njit
from numba.typed import List


@njit
def weighted(values, weights):
    total = 0.0
    for i in range(len(values)):
        total += values[i] * weights[i]
    return total


values = List()
for i in range(500):
    values.append(float(i))
print(weighted(values, np.ones(500)))
