import numpy as np

rng = np.random.default_rng(0)
a = rng.random((1200, 1200))
for _ in range(12):
    a = a @ a / 1200
print(a.sum() > 0)
