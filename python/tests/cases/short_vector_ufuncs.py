"""Ten ufuncs on a hundred numbers, thousands of times over.

main reason on t4: launch-bound
"""

import numpy as np

x = np.linspace(0, 1, 100)
for _ in range(3000):
    y = np.exp(-x) * np.sin(x) + np.sqrt(x + 1) - np.log1p(x) / (1 + x)
print(float(y.sum()) > 0)
