"""One of three ways to lose: one addition per element of a gigabyte that is read once.

Expect: stay on the CPU. Copying the data to the GPU takes far longer than the addition there.
"""
import os
import tempfile

import numpy as np

N = 250_000_000 // int(os.environ.get("SHRINK", "1"))
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "data.f32")
    np.memmap(path, dtype=np.float32, mode="w+", shape=(N,)).flush()
    data = np.fromfile(path, dtype=np.float32)
    data += np.float32(1.0)
print(f"{data.nbytes / 1e9:.2f} GB, first {data[0]:.1f}")
