"""An implicit step of the heat equation: the matrix is factorised once, and each step solves with it."""

import numpy as np
from scipy.sparse import diags
from scipy.sparse.linalg import splu

n = 4000
solver = splu(diags([-0.25, 1.5, -0.25], [-1, 0, 1], shape=(n, n), format="csc"))
u = np.zeros(n)
u[n // 2] = 1.0
for _ in range(100):
    u = solver.solve(u)
print(0 < u.max() < 1)
