"""4×4 matrices in a loop."""
import numpy as np

a = np.full((4, 4), 0.25)
x = np.ones((4, 4))
for _ in range(50_000):
    x = a @ x
print(x[0, 0])
