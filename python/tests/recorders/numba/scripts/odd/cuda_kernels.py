"""Kernels of `@cuda.jit`: of one axis and two, with an atomic sum, a function of the device's, and a barrier."""

import math

import numpy as np
from numba import cuda, float32


@cuda.jit(device=True)
def root(x):
    return math.sqrt(x)


@cuda.jit
def roots(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = root(a[i]) + 1.0


@cuda.jit
def product(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@cuda.jit
def histogram(x, counts):
    first = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    for i in range(first, x.size, cuda.gridDim.x * cuda.blockDim.x):
        cuda.atomic.add(counts, int(x[i]), 1)


@cuda.jit
def turned(a):
    held = cuda.shared.array(32, float32)
    i = cuda.threadIdx.x
    held[i] = a[i]
    cuda.syncthreads()
    a[i] = held[31 - i]


a = cuda.to_device(np.arange(1000.0))
out = cuda.device_array(1000)
for _ in range(3):
    roots[8, 128](a, out)
cuda.synchronize()
print(round(float(out.copy_to_host().sum()), 6))

left = np.arange(600.0).reshape(20, 30)
result = np.zeros((20, 20))
product[(2, 2), (16, 16)](left, np.ascontiguousarray(left.T), result)
print(np.allclose(result, left @ left.T))

counts = np.zeros(4, np.int64)
histogram[2, 32](np.arange(500.0) % 4, counts)
print(counts.tolist())

short = np.arange(32, dtype=np.float32)
turned[1, 32](short)
print(short[0], short[31])
