import numpy as np

rng = np.random.default_rng(0)
a, b, c = rng.random((3, 8_000_000))
for _ in range(20):
    y = a * b + c * 2.0 - a / 3.0
print(y.sum() > 0)
