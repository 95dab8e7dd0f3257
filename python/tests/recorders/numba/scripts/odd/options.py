import threading

import numpy as np
from numba import njit


@njit(fastmath=True, error_model="numpy", nogil=True, inline="always", boundscheck=True)
def f(x, y):
    for i in range(x.size):
        y[i] = 1.0 / x[i]


@njit(nogil=True)
def g(x):
    s = 0.0
    i = 0
    while i < x.size:
        s += x[i]
        i += 1
    return s


y = np.zeros(1000)
f(np.arange(1000.0), y)
print(y[0], y[-1])
found = [0.0] * 4


def work(k):
    for _ in range(50):
        found[k] = g(np.arange(1000.0) * k)


threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(found)


@njit(boundscheck=True)
def h(x):
    return x[10]


try:
    h(np.ones(3))
except IndexError as error:
    print(error)
print(f.signatures, type(f).__name__, callable(f), f.py_func.__name__)
