"""Matrix product, 2000×2000, in float64 and float32.

Expect: float32 wins on most GPUs once start-up is left out; float64 loses on GeForce cards (1:32 or 1:64 rate).
"""
import numpy as np

rng = np.random.default_rng(0)
a = rng.random((2000, 2000))
b = rng.random((2000, 2000))
c = a @ b
c32 = a.astype(np.float32) @ b.astype(np.float32)
print(f"float64 trace {np.trace(c):.3f}, float32 trace {np.trace(c32):.3f}")
