"""NumPy's own precision, where single would do."""
import numpy as np

a = np.random.default_rng(0).random((2000, 2000))
for _ in range(30):
    a = a @ a
    a = a / a.max()
print(a[0, 0])
