"""One array goes up for a single sum: the copy is all there is.

main reason on t4: transfer-bound
"""

import cupy as cp
import numpy as np

data = np.ones(20_000_000)
total = 0.0
for _ in range(20):
    total += float(cp.asarray(data).sum())
print(total)
