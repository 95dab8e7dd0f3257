"""The largest eigenvalue by power iteration: in single precision; whether it is done is asked every twentieth step."""

import numpy as np

rng = np.random.default_rng(18)
a = rng.random((1500, 1500), dtype=np.float32)
a = a + a.T
v = np.ones(1500, dtype=np.float32)
last = 0.0
for step in range(400):
    v = a @ v
    v /= np.linalg.norm(v)
    if step % 20 == 19:
        value = float(v @ (a @ v))
        if abs(value - last) < 1e-3 * abs(value):
            break
        last = value
print(f"{value:.1f} after {step + 1} steps")
