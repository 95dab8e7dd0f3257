"""PageRank by power iteration."""

import numpy as np

rng = np.random.default_rng(13)
n = 500
links = (rng.random((n, n)) < 0.02).astype(float)
np.fill_diagonal(links, 0)
out = links.sum(axis=0)
out[out == 0] = 1
transition = links / out
rank = np.full(n, 1 / n)
for step in range(100):
    new = 0.85 * transition @ rank + 0.15 / n
    new /= new.sum()
    change = np.abs(new - rank).sum()
    rank = new
    if change < 1e-10:
        break
print(step < 99, round(float(rank.sum()), 9), rank.argmax() >= 0)
