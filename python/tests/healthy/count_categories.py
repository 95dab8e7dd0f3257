"""Counts and sums by category: one bincount each, integers, a pass over the data."""

import numpy as np

rng = np.random.default_rng(16)
category = rng.integers(0, 500, 2_000_000, dtype=np.int64)
print(np.bincount(category, minlength=500).argmax(), np.bincount(category[:1000], minlength=500)[:4])
