import cupy as cp

saxpy = cp.ElementwiseKernel("float32 a, float32 x, float32 y", "float32 z", "z = a * x + y", "saxpy")
x = cp.arange(100_000, dtype=cp.float32)
print(float(saxpy(2.0, x, x).sum()) > 0)
