"""A Kalman filter over a short track: tiny matrices, each step needs the one before. Nothing to batch or to move."""

import numpy as np

rng = np.random.default_rng(2)
move = np.array([[1.0, 0.1], [0.0, 1.0]])
see = np.array([[1.0, 0.0]])
state, spread = np.zeros((2, 1)), np.eye(2)
for step in range(300):
    seen = 0.1 * step + 0.05 * rng.standard_normal()
    state, spread = move @ state, move @ spread @ move.T + 1e-4 * np.eye(2)
    gain = spread @ see.T / (see @ spread @ see.T + 0.0025)
    state = state + gain * (seen - see @ state)
    spread = spread - gain @ see @ spread
print(f"position {state[0, 0]:.3f}, speed {state[1, 0]:.3f}")
