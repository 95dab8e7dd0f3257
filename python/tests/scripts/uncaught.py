import numpy as np


def inner(a):
    return a @ np.ones(
        (3, 3)
    )


def outer():
    return [inner(x) for x in [np.ones((2, 2))]]


outer()
