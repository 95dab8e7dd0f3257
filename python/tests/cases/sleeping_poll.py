"""A program that waits for an instrument waits as long beside a GPU.

main reason on t4: input-output-bound
"""

import time

import numpy as np

total = 0.0
for _ in range(8):
    time.sleep(0.1)
    total += float(np.ones(1000).sum())
print(total)
