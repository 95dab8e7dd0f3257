import numpy as np
from numba import njit


@njit
def shift(x, y):
    for i in range(x.size):
        y[i] = x[i] + 1.0


a = np.arange(10.0)
shift(a[:-1], a[1:])
print(a)
shift(a, a)
print(a)
