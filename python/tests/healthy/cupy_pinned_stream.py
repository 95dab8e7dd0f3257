import cupy as cp
import cupyx
import numpy as np

host = cupyx.empty_pinned((4, 200_000), dtype=np.float32)
host[:] = 1.0
stream = cp.cuda.Stream(non_blocking=True)
with stream:
    device = cp.empty_like(host)
    device.set(host, stream=stream)
    total = device.sum(axis=1)
stream.synchronize()
print(cp.asnumpy(total).shape)
