"""Gravity among a few hundred bodies, kick and drift."""

import numpy as np

rng = np.random.default_rng(8)
n = 250
mass = np.ones((n, 1)) * 20 / n
position, velocity = rng.standard_normal((n, 3)), rng.standard_normal((n, 3))
velocity -= np.mean(mass * velocity, 0) / np.mean(mass)


def acceleration(p):
    d = p[np.newaxis, :, :] - p[:, np.newaxis, :]
    inverse = (d**2).sum(-1) + 0.1**2
    inverse **= -1.5
    return np.einsum("ijk,ij->ik", d, inverse * mass.T)


a = acceleration(position)
for _ in range(20):
    velocity += a * 0.005
    position += velocity * 0.01
    a = acceleration(position)
    velocity += a * 0.005
kinetic = 0.5 * np.sum(mass * velocity**2)
print(np.isfinite(kinetic), position.shape)
