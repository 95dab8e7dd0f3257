"""k nearest neighbours by all distances at once."""

import numpy as np

rng = np.random.default_rng(41)
train, test = rng.random((1500, 8)), rng.random((300, 8))
label = (train.sum(1) > 4).astype(int)
square = (test**2).sum(1)[:, None] + (train**2).sum(1) - 2 * test @ train.T
near = np.argpartition(square, 7, axis=1)[:, :7]
vote = np.apply_along_axis(lambda row: np.bincount(row, minlength=2).argmax(), 1, label[near])
truth = (test.sum(1) > 4).astype(int)
print(np.count_nonzero(vote == truth) > 150, np.unique(vote))
