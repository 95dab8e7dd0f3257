"""Parts that NumPy imports at their first use."""
import numpy as np

print(np.random.default_rng(3).integers(100, size=3))
print(np.fft.rfft(np.ones(4)).real, np.linalg.norm(np.ones(4)))
