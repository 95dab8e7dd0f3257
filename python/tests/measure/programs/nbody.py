"""Stars under their own gravity: leapfrog steps and energies."""
import numpy as np

def acceleration(pos, mass, g, softening):
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inv_r3 = dx**2 + dy**2 + dz**2 + softening**2
    inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0] ** (-1.5)
    return np.hstack((g * (dx * inv_r3) @ mass, g * (dy * inv_r3) @ mass, g * (dz * inv_r3) @ mass))

def energy(pos, vel, mass, g):
    ke = 0.5 * np.sum(np.sum(mass * vel**2))
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    inv_r = np.sqrt((x.T - x) ** 2 + (y.T - y) ** 2 + (z.T - z) ** 2)
    inv_r[inv_r > 0] = 1.0 / inv_r[inv_r > 0]
    pe = g * np.sum(np.sum(np.triu(-(mass * mass.T) * inv_r, 1)))
    return ke, pe

rng = np.random.default_rng(42)
n, dt, steps = 40, 0.01, 15
mass = 20.0 * np.ones((n, 1)) / n
pos, vel = rng.random((n, 3)), rng.random((n, 3))
vel -= np.mean(mass * vel, axis=0) / np.mean(mass)
acc = acceleration(pos, mass, 1.0, 0.1)
KE = np.ndarray(steps + 1)
PE = np.ndarray(steps + 1)
KE[0], PE[0] = energy(pos, vel, mass, 1.0)
for i in range(steps):
    vel += acc * dt / 2.0
    pos += vel * dt
    acc = acceleration(pos, mass, 1.0, 0.1)
    vel += acc * dt / 2.0
    KE[i + 1], PE[i + 1] = energy(pos, vel, mass, 1.0)
print("energy", KE[-1] + PE[-1], KE.max())
