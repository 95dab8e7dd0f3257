"""Gravity between 1500 bodies, 20 steps, all pairs.

Expect: the GPU wins once warm: much arithmetic on n×n arrays, little to copy.
"""
import numpy as np

N, STEPS, DT = 1500, 20, 0.01
rng = np.random.default_rng(3)
position = rng.standard_normal((N, 3))
velocity = np.zeros((N, 3))
mass = rng.random(N) / N
for _ in range(STEPS):
    apart = position[None, :, :] - position[:, None, :]
    distance2 = (apart**2).sum(axis=2) + 1e-3
    pull = mass[None, :] * distance2**-1.5
    velocity += DT * (apart * pull[:, :, None]).sum(axis=1)
    position += DT * velocity
energy = 0.5 * (mass * (velocity**2).sum(axis=1)).sum()
print(f"kinetic energy {energy:.6f}")
