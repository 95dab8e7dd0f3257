"""Cholesky's factors by rows, held against NumPy's and SciPy's."""
import numpy as np
from scipy.linalg import solve_triangular, cho_factor, cho_solve

def kernel(a):
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, a.shape[0]):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])

n = 16
A = np.empty((n, n))
for i in range(n):
    A[i, : i + 1] = np.fromfunction(lambda j: (-j % n) / n + 1, (i + 1,), dtype=float)
    A[i, i + 1 :] = 0.0
    A[i, i] = 1.0
A[:] = A @ np.transpose(A)
original = A.copy()
kernel(A)
L = np.tril(A)
print(np.allclose(L, np.linalg.cholesky(original)), np.linalg.norm(L @ L.T - original) < 1e-8)
x = solve_triangular(L, np.ones(n), lower=True)
y = cho_solve(cho_factor(original), np.ones(n))
try:
    np.linalg.cholesky(-original)
except np.linalg.LinAlgError as error:
    print(error)
print(np.linalg.norm(x), np.linalg.norm(original @ y - 1) < 1e-6)
