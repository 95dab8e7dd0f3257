import warnings

import numpy as np
from numba import njit

warnings.simplefilter("always")


@njit
def f(x, k):
    s = 0.0
    for i in range(x.size):
        if x[i] > k:
            s += x[i]
    return s


total = 0.0
for n in range(600):
    total += f(np.arange(float(n)), 3.0)
print(total)
for seed in range(50):
    total += f(np.arange(10.0), float(seed))
print(total, f(np.arange(4.0)[::2], 1.0), f(k=1, x=np.arange(4)))
a = np.arange(10.0)


@njit
def chosen(x, *more, scale=2.0):
    return x[0] * scale + len(more)


print(chosen(a, 1, 2))
r = np.zeros(3, dtype=[("u", "f8"), ("v", "i4")])


@njit
def records(r):
    for i in range(r.size):
        r[i].u = i
    return r.u.sum()


print(records(r))
