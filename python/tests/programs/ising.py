"""The Ising model by checkerboard Metropolis sweeps."""

import numpy as np

rng = np.random.default_rng(17)
n = 100
spins = rng.choice([-1, 1], size=(n, n))
i, j = np.indices((n, n))
colours = [(i + j) % 2 == c for c in (0, 1)]
for sweep in range(60):
    for colour in colours:
        field = np.roll(spins, 1, 0) + np.roll(spins, -1, 0) + np.roll(spins, 1, 1) + np.roll(spins, -1, 1)
        cost = 2 * spins * field
        flip = colour & (rng.random((n, n)) < np.exp(-0.44 * cost))
        spins = np.where(flip, -spins, spins)
print(abs(spins.mean()) <= 1, spins.dtype.kind)
