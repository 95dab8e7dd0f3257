"""A band filter of a real signal: the real transform, its spectrum changed in place."""

import numpy as np

rng = np.random.default_rng(10)
signal = rng.standard_normal((16, 65_536), dtype=np.float32)
spectrum = np.fft.rfft(signal, axis=1)
spectrum[:, :500] = 0
spectrum[:, 9000:] = 0
band = np.fft.irfft(spectrum, n=signal.shape[1], axis=1)
print(f"power in the band {(band**2).mean():.4f}")
