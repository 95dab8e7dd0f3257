import numpy as np

rng = np.random.default_rng(0)
a = rng.random((1500, 1500))
for _ in range(6):
    a = a @ a / 1500
print(a.sum() > 0)
