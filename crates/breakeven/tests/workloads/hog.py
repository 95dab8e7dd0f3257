"""20 GB at once; only a corner is touched, so that a machine with less bears it."""
import numpy as np

field = np.empty((25_000, 100_000))
field[0] = 1.0
print((field[0] * 2.0).sum())
