"""Heat equation on a 1024×1024 plate, 400 steps of a five-point stencil.

Expect: the GPU wins once warm, held back by launches and memory: seven small steps an iteration.
"""
import numpy as np

N, STEPS = 1024, 400
u = np.zeros((N, N))
u[0, :] = 100.0
for _ in range(STEPS):
    inner = u[1:-1, 1:-1]
    neighbours = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    u[1:-1, 1:-1] = inner + 0.2 * (neighbours - 4.0 * inner)
print(f"mean temperature {u.mean():.6f}")
