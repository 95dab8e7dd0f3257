"""Bodies that attract each other, in steps."""

import numpy as np
from numba import njit


@njit
def step(pos, vel, acc, dt):
    n = pos.shape[0]
    for i in range(n):
        ax, ay, az = 0.0, 0.0, 0.0
        for j in range(n):
            dx = pos[j, 0] - pos[i, 0]
            dy = pos[j, 1] - pos[i, 1]
            dz = pos[j, 2] - pos[i, 2]
            r2 = dx * dx + dy * dy + dz * dz + 1e-6
            inv = 1.0 / (r2 * np.sqrt(r2))
            ax += dx * inv
            ay += dy * inv
            az += dz * inv
        acc[i, 0], acc[i, 1], acc[i, 2] = ax, ay, az
    for i in range(n):
        for k in range(3):
            vel[i, k] += acc[i, k] * dt
            pos[i, k] += vel[i, k] * dt


rng = np.random.default_rng(1)
pos, vel = rng.random((200, 3)), np.zeros((200, 3))
acc = np.zeros((200, 3))
for _ in range(7):
    step(pos, vel, acc, 1e-3)
print(pos.sum().round(6), vel.sum().round(6))
