import numpy as np

a = np.arange(12.0).reshape(3, 4)
b = a @ a.T + 1
b += 2
b[0] = 7
b[1, 1:] *= 3
print(b, b.sum(), float(b[0, 0]), a.dtype, type(b).__name__)
print([type(x).__name__ for x in (a, a[0], a[0, 0], a.sum(), a > 2)])
