"""Random walks: first passage, spread, histogram."""

import numpy as np

np.random.seed(12)
walks, steps = 2000, 500
moves = np.random.randint(0, 2, size=(walks, steps)) * 2 - 1
paths = np.cumsum(moves, axis=1)
reached = (np.abs(paths) >= 30).any(axis=1)
first = (np.abs(paths[reached]) >= 30).argmax(axis=1)
quantiles = np.percentile(paths[:, -1], [10, 50, 90])
counts, edges = np.histogram(paths[:, -1], bins=20)
best = np.maximum.accumulate(paths, axis=1)
drawdown = np.max(best - paths)
print(reached.sum() > 0, first.mean() > 0, counts.sum(), quantiles, drawdown > 0)
np.random.shuffle(first)
print(np.median(first) > 0, np.random.permutation(5).sum())
