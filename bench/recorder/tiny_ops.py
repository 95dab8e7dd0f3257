"""Two million operations on arrays of ten numbers; prints the CPU seconds they took."""

import sys
import time

import numpy as np

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
a = np.linspace(0.0, 1.0, 10)
b = np.linspace(1.0, 2.0, 10)


def work(rounds):
    x = a
    for _ in range(rounds):
        x = a + b
        x = x * a
        x = np.sqrt(x)
        x = x - b
    return x


work(10_000)
start = time.process_time()
work(ROUNDS)
print(time.process_time() - start)
