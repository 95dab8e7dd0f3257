"""A recurrence over time of a short state: each step needs the one before.

main reason on t4: launch-bound
"""

import numpy as np

state = np.zeros(8)
matrix = np.eye(8) * 0.99
noise = np.random.default_rng(0).random((20_000, 8))
for row in noise:
    state = matrix @ state + row
print(state.shape)
