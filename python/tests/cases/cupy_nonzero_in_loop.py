"""`nonzero` has to tell the host how many there are, each time.

main reason on t4: synchronisation-bound
"""

import cupy as cp

x = cp.arange(200_000) % 7
count = 0
for i in range(200):
    count += cp.nonzero(x == i % 7)[0].size
print(count)
