import numpy as np, scipy.sparse as sp
from scipy.sparse.linalg import splu
n = 120
T = sp.diags([-1, 4, -1], [-1, 0, 1], shape=(n, n))
A = (sp.kron(sp.eye(n), T) + sp.kron(sp.diags([-1, -1], [-1, 1], shape=(n, n)), sp.eye(n))).tocsc()
b = np.ones(n * n)
lu = splu(A)
for _ in range(3000):
    x = lu.solve(b)
print(x[:2])
