import numpy as np
from numba import njit


def made(k):
    @njit
    def scaled(x):
        out = np.empty_like(x)
        for i in range(x.size):
            out[i] = k * x[i]
        return out

    return scaled


for k in (2.0, 3.0):
    print(made(k)(np.arange(4.0)))


@njit
def apply(f, x):
    s = 0.0
    for i in range(x.size):
        s += f(x[i])
    return s


@njit
def square(v):
    return v * v


print(apply(square, np.arange(5.0)))
