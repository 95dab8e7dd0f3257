"""Linear algebra within a compiled function."""

import numpy as np
from numba import njit


@njit
def ridge(x, y, penalty):
    gram = x.T @ x + penalty * np.eye(x.shape[1])
    return np.linalg.solve(gram, x.T @ y)


rng = np.random.default_rng(3)
x, y = rng.random((400, 20)), rng.random(400)
print(ridge(x, y, 0.1).sum().round(6))
