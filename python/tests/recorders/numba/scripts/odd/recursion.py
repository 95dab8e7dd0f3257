import numpy as np
from numba import int64, njit


@njit(int64(int64))
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@njit
def depth(x, n):
    if n == 0:
        return x.sum()
    return depth(x, n - 1) + 1.0


print(fib(20), depth(np.ones(4), 5))
