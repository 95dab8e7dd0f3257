import sys

import numpy as np

numbers = np.array([float(word) for word in sys.stdin.readline().split()])
print(numbers.mean(), sys.stdin.isatty(), input(), sys.stdin.read())
