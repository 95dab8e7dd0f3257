"""A function of each row, and a filter at each place."""

import numpy as np
from numba import guvectorize, njit, stencil


@guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()")
def distance(a, b, out):
    s = 0.0
    for i in range(a.shape[0]):
        d = a[i] - b[i]
        s += d * d
    out[0] = s


@stencil
def smooth(a):
    return 0.5 * a[0, 0] + 0.125 * (a[-1, 0] + a[1, 0] + a[0, -1] + a[0, 1])


a = np.arange(600.0).reshape(20, 30)
print(distance(a, a[0]).sum())
print(smooth(a).sum())
