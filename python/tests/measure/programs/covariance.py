"""Covariance of columns, row by row of the result."""
import numpy as np

def kernel(n, data):
    mean = np.mean(data, axis=0)
    data -= mean
    cov = np.zeros((data.shape[1], data.shape[1]), dtype=data.dtype)
    for i in range(data.shape[1]):
        cov[i:, i] = data[:, i] @ data[:, i:] / (n - 1.0)
        cov[i, i:] = cov[i:, i]
    return cov

rows, columns = 60, 24
data = np.array([[(i * j) / columns for j in range(columns)] for i in range(rows)])
expected = np.cov(data.copy(), rowvar=False)
C = kernel(float(rows), data)
print("as np.cov:", np.allclose(C, expected), "trace", np.trace(C))
