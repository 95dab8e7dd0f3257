"""The trace of tanh, element by element, added to the matrix."""
import numpy as np

def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace

a = np.arange(400.0).reshape(20, 20) / 400
result = go_fast(a)
print(result[0, 0], isinstance(result, np.ndarray), result.dtype)
