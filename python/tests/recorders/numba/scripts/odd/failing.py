import numpy as np
from numba import njit


@njit
def f(x):
    return x.no_such_thing()


@njit
def checked(x):
    if x[0] > 0:
        raise ValueError("positive")
    return x[0]


try:
    checked(np.ones(3))
except ValueError as error:
    print("caught", error, error.__traceback__.tb_lineno, error.__traceback__.tb_next.tb_lineno)
print(checked(-np.ones(3)))
f(np.ones(3))
