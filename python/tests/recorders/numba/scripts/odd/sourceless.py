import numpy as np
from numba import njit

names = {"np": np}
exec("def f(x):\n    s = 0.0\n    for v in x:\n        s += v\n    return s\n", names)
f = njit(names["f"])
print(f(np.arange(10.0)))
g = njit(lambda x: x * 2.0)
print(g(np.arange(3.0)))
