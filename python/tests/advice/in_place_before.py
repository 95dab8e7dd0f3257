import numpy as np

rng = np.random.default_rng(0)
x = rng.random(8_000_000)
y = rng.random(8_000_000)
for _ in range(40):
    x = x + y
print(x.sum() > 0)
