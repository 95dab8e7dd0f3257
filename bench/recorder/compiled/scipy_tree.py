import numpy as np
from scipy.spatial import cKDTree
rng = np.random.default_rng(0)
p = rng.normal(size=(200_000, 3))
for _ in range(4):
    t = cKDTree(p)
    d, i = t.query(p, k=8)
print(d.shape)
