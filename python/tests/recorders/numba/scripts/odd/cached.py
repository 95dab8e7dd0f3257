import os
import sys

import numpy as np
from numba import njit


@njit(cache=True)
def f(x):
    n = 0
    v = x[0]
    while v < 100.0:
        v = v * 2.0
        n += 1
    return n


print(f(np.ones(3)), sum(f.stats.cache_hits.values()), sum(f.stats.cache_misses.values()))
folder = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "__pycache__")
print(len([name for name in os.listdir(folder) if name.startswith("cached.f")]))
