"""What comes next depends on what came out, twenty thousand times."""
import numpy as np

x = np.linspace(0.0, 1.0, 1000)
n = 0
while n < 20_000:
    if (x > 0.5).any():
        x = x * 0.999
    else:
        x = x + 0.001
    n += 1
print(x.sum())
