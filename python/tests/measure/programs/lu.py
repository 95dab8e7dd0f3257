"""LU by hand, then a solve with SciPy's."""
import numpy as np
import scipy.linalg as sla

def kernel(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]

rng = np.random.RandomState(0)
A = rng.rand(14, 14) + 14 * np.eye(14)
kept = A.copy()
kernel(A)
L, U = np.tril(A, -1) + np.eye(14), np.triu(A)
print("rebuilt", np.abs(L @ U - kept).max() < 1e-10)
P, L2, U2 = sla.lu(kept)
factors = sla.lu_factor(kept)
x = sla.lu_solve(factors, np.arange(14.0))
sign, logdet = np.linalg.slogdet(kept)
print(np.allclose(P @ L2 @ U2, kept), x[:3], logdet, np.linalg.slogdet(kept).sign)
