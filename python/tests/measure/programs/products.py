"""Products of matrices and vectors, thirteen kernels of dense linear algebra."""
import numpy as np

rng = np.random.default_rng(1)
n, m, k = 24, 20, 28
alpha, beta = 1.5, 1.2
A, B, C = rng.random((n, k)), rng.random((k, m)), rng.random((n, m))
S, T = rng.random((n, n)), rng.random((n, n))
x, y, z, w = (rng.random(n) for _ in range(4))

print("atax", ((A @ rng.random(k)) @ A)[:2])
p, r = rng.random(k), rng.random(n)
print("bicg", (r @ A)[:2], (A @ p)[:2])
print("2mm", (alpha * A @ B @ rng.random((m, k)) + beta * A).sum())
print("3mm", ((A @ B) @ (B.T @ A.T)).trace())
G = S.copy()
G += np.multiply.outer(x, y) + np.multiply.outer(z, w)
v = rng.random(n)
v += beta * y @ G + z
out = np.zeros(n)
out += alpha * G @ v
print("gemver", out[:3])
print("gesummv", (alpha * S @ x + beta * T @ x)[:3])
x1, x2 = x.copy(), y.copy()
x1 += S @ z
x2 += w @ S
print("mvt", x1.sum(), x2.sum())
D = C.copy()
D *= beta
for i in range(n):
    for j in range(m):
        D[:i, j] += alpha * C[i, j] * S[i, :i]
        D[i, j] += alpha * (C[i, j] * S[i, i] + C[:i, j] @ S[i, :i])
print("symm", D.sum())
R = S.copy()
for i in range(n):
    R[i, : i + 1] *= beta
    for j in range(k):
        R[i, : i + 1] += alpha * A[i, j] * A[: i + 1, j]
print("syrk", R.sum())
R = S.copy()
H = rng.random((n, k))
for i in range(n):
    R[i, : i + 1] *= beta
    for j in range(k):
        R[i, : i + 1] += A[: i + 1, j] * alpha * H[i, j] + H[: i + 1, j] * alpha * A[i, j]
print("syr2k", R.sum())
M = C.copy()
for i in range(n):
    for j in range(m):
        M[i, j] += np.dot(S[i + 1 :, i], M[i + 1 :, j])
M *= alpha
print("trmm", M.sum())
Q = rng.random((6, 5, 8))
C4 = rng.random((8, 8))
for r in range(6):
    for q in range(5):
        Q[r, q, :] = Q[r, q, :] @ C4
again = np.reshape(np.reshape(Q, (6, 5, 1, 8)) @ C4, (6, 5, 8))
print("doitgen", Q.sum(), again.sum())
