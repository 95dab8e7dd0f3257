import numpy as np

a = np.arange(3.0)
a.resize((2, 2))
print(a)
b = a[0]
try:
    a.resize((3, 3))
except ValueError as error:
    print("refused", str(error)[:40])
