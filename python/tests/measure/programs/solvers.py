"""Factors, orthogonal columns and triangular solves by hand."""
import numpy as np

rng = np.random.default_rng(2)
n = 18
A = rng.random((n, n))
spd = A @ A.T + n * np.eye(n)

r = np.arange(n + 1, 1, -1, dtype=np.float64) / 40
y = np.empty_like(r)
alpha, beta = -r[0], 1.0
y[0] = -r[0]
for k in range(1, n):
    beta *= 1.0 - alpha * alpha
    alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
    y[:k] += alpha * np.flip(y[:k])
    y[k] = alpha
print("durbin", y[:3])

Q, R, W = np.zeros_like(A), np.zeros((n, n)), A.copy()
for k in range(n):
    norm = np.dot(W[:, k], W[:, k])
    R[k, k] = np.sqrt(norm)
    Q[:, k] = W[:, k] / R[k, k]
    for j in range(k + 1, n):
        R[k, j] = np.dot(Q[:, k], W[:, j])
        W[:, j] -= Q[:, k] * R[k, j]
print("gramschmidt", np.allclose(Q @ R, A), np.allclose(Q.T @ Q, np.eye(n)))

L, b = spd.copy(), rng.random(n)
x, y = np.zeros_like(b), np.zeros_like(b)
for i in range(n):
    for j in range(i):
        L[i, j] -= L[i, :j] @ L[:j, j]
        L[i, j] /= L[j, j]
    for j in range(i, n):
        L[i, j] -= L[i, :i] @ L[:i, j]
for i in range(n):
    y[i] = b[i] - L[i, :i] @ y[:i]
for i in range(n - 1, -1, -1):
    x[i] = (y[i] - L[i, i + 1 :] @ x[i + 1 :]) / L[i, i]
print("ludcmp", np.allclose(spd @ x, b), x[:2])

low, x = np.tril(spd), np.zeros(n)
for i in range(n):
    x[i] = (b[i] - low[i, :i] @ x[:i]) / low[i, i]
print("trisolv", np.allclose(low @ x, b))

C = np.linalg.cholesky(spd) + np.triu(spd, k=1)
print("cholesky2", C.sum())

data = rng.random((40, 12))
mean, std = np.mean(data, axis=0), np.std(data, axis=0)
std[std <= 0.1] = 1.0
data -= mean
data /= np.sqrt(40.0) * std
corr = np.eye(12)
for i in range(11):
    corr[i + 1 : 12, i] = corr[i, i + 1 : 12] = data[:, i] @ data[:, i + 1 : 12]
print("correlation", corr.sum(), np.linalg.eigvalsh(corr)[-1])
