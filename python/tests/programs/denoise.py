"""A signal out of noise by thresholding its spectrum."""

import numpy as np

rng = np.random.default_rng(21)
t = np.arange(0, 4, 1 / 4096)
clean = np.sin(2 * np.pi * 50 * t) + 0.5 * np.sin(2 * np.pi * 120 * t)
noisy = clean + 1.5 * rng.standard_normal(t.size)
spectrum = np.fft.rfft(noisy)
power = (spectrum * np.conj(spectrum)).real / t.size
spectrum[power < 100] = 0
filtered = np.fft.irfft(spectrum, n=t.size)
frequencies = np.fft.rfftfreq(t.size, 1 / 4096)
print(frequencies[np.argsort(power)[-2:]].round(1), round(float(np.sqrt(np.mean((filtered - clean) ** 2))), 3))
