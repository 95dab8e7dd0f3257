"""C = alpha A B + beta C."""
import numpy as np

def initialize(ni, nj, nk, dtype=np.float64):
    alpha, beta = dtype(1.5), dtype(1.2)
    c = np.fromfunction(lambda i, j: ((i * j + 1) % ni) / ni, (ni, nj), dtype=dtype)
    a = np.fromfunction(lambda i, k: (i * (k + 1) % nk) / nk, (ni, nk), dtype=dtype)
    b = np.fromfunction(lambda k, j: (k * (j + 2) % nj) / nj, (nk, nj), dtype=dtype)
    return alpha, beta, c, a, b

def kernel(alpha, beta, c, a, b):
    c[:] = alpha * a @ b + beta * c

alpha, beta, C, A, B = initialize(60, 70, 80)
kernel(alpha, beta, C, A, B)
print(f"{np.linalg.norm(C):.6e}")
