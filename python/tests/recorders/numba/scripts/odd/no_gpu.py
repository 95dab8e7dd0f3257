import numpy as np
from numba import cuda


@cuda.jit
def add(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + 1.0


x = np.ones(1000)
cuda.to_device(x)
