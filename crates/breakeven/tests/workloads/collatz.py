"""Plain Python with an array at the end."""
import numpy as np


def steps(n):
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


print(np.asarray([steps(i) for i in range(1, 60_000)]).max())
