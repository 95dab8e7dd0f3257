"""Jacobi sweeps for Poisson's equation on a square."""

import numpy as np

n = 128
charge = np.zeros((n, n))
charge[n // 4, n // 4] = 1.0
charge[3 * n // 4, 3 * n // 4] = -1.0
potential = np.zeros((n, n))
for sweep in range(300):
    old = potential.copy()
    potential[1:-1, 1:-1] = 0.25 * (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:] + charge[1:-1, 1:-1])
    if sweep % 50 == 0:
        change = np.linalg.norm(potential - old)
field = np.gradient(potential)
print(round(float(np.hypot(*field).max()), 6), change > 0)
