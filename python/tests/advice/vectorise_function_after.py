import numpy as np

prices = np.random.default_rng(0).normal(100.0, 20.0, 1_000_000)
strikes = np.linspace(80.0, 120.0, 1_000_000)
paid = np.where(prices > strikes, prices - strikes, 0.0)
print(paid.mean())
