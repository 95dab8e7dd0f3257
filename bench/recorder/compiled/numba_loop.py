import numpy as np
from numba import njit

@njit
def walk(n):
    x = 0.3
    s = 0.0
    for i in range(n):
        x = 3.9 * x * (1 - x)
        s += np.sin(x)
    return s

print(walk(10))
for i in range(20):
    walk(4_000_000)
