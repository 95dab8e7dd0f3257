"""Low-pass filter of 64 signals of 262 144 samples in the frequency domain.

Expect: the GPU wins once warm; in a run this short start-up decides.
"""
import numpy as np

rng = np.random.default_rng(13)
signal = rng.standard_normal((64, 262_144))
spectrum = np.fft.rfft(signal, axis=1)
frequency = np.fft.rfftfreq(signal.shape[1])
spectrum *= np.exp(-((frequency / 0.05) ** 2))
smooth = np.fft.irfft(spectrum, n=signal.shape[1], axis=1)
print(f"rms before {np.sqrt((signal**2).mean()):.4f}, after {np.sqrt((smooth**2).mean()):.4f}")
