import numpy as np
from numba import float64, njit
from numba.experimental import jitclass


@jitclass([("x", float64[:]), ("n", float64)])
class Bag:
    def __init__(self, size):
        self.x = np.zeros(size)
        self.n = 0.0

    def fill(self, v):
        for i in range(self.x.size):
            self.x[i] = v
        self.n += 1.0
        return self.x.sum()


@njit
def use(bag, out):
    for i in range(out.size):
        out[i] = bag.x[i] * 2.0
    return out


bag = Bag(5)
print(bag.fill(3.0), bag.n, bag.x, use(bag, np.zeros(5)))
