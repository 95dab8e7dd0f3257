import numpy as np

rng = np.random.default_rng(0)
a = rng.random((900, 900)) + 900 * np.eye(900)
b = rng.random((900, 4))
for _ in range(20):
    x = np.linalg.inv(a) @ b
print(x.sum() > 0)
