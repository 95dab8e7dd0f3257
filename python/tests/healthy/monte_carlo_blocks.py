"""The price of an option by simulation: whole blocks of paths at a time, so that a block stays in the cache."""

import numpy as np

rng = np.random.default_rng(7)
days, block = 64, 4096
paid = []
for _ in range(12):
    steps = rng.standard_normal((block, days), dtype=np.float32)
    steps *= np.float32(0.2 / days**0.5)
    np.cumsum(steps, axis=1, out=steps)
    paid.append(np.maximum(np.exp(steps[:, -1]) - np.float32(1.05), 0).mean())
print(0 < np.mean(paid) < 1)
