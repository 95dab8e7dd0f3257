"""QR by Gram-Schmidt, and eigenvalues by QR steps."""

import numpy as np


def orthogonal(a):
    q = np.zeros_like(a)
    r = np.zeros((a.shape[1], a.shape[1]))
    for j in range(a.shape[1]):
        v = a[:, j].copy()
        for i in range(j):
            r[i, j] = np.dot(q[:, i], v)
            v -= r[i, j] * q[:, i]
        r[j, j] = np.linalg.norm(v)
        q[:, j] = v / r[j, j]
    return q, r


rng = np.random.default_rng(6)
m = rng.random((30, 30))
m = (m + m.T) / 2
q, r = orthogonal(m)
print(np.allclose(q @ r, m), np.allclose(q.T @ q, np.eye(30)))
d = m.copy()
for _ in range(30):
    q, r = np.linalg.qr(d)
    d = r @ q
print(np.isclose(np.trace(d), np.trace(m)))
