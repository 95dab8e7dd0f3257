import numpy as np
from numba import jit, njit, objmode


@jit(forceobj=True)
def f(x):
    return sum(x.tolist())


@njit
def g(x):
    with objmode(y="float64"):
        y = float(np.median(x))
    return y + x[0]


print(f(np.arange(10.0)), g(np.arange(11.0)))
