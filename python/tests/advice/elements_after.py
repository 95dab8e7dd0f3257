import numpy as np

x = np.random.default_rng(0).random(1_000_000)
out = np.where(x > 0.5, x * 2, 0)
print(out.sum() > 0)
