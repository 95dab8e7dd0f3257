"""`nonzero` has to tell the host how many there are, each time.
(Said beforehand: synchronisation-bound. That is the reason of its line; its five launches take more than the wait.)

main reason on t4: launch-bound
"""

import cupy as cp

x = cp.arange(200_000) % 7
count = 0
for i in range(200):
    count += cp.nonzero(x == i % 7)[0].size
print(count)
