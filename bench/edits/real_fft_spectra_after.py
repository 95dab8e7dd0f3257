import cupy as cp

signals = cp.random.default_rng(0).standard_normal((512, 16384))
for _ in range(20):
    spectrum = cp.fft.rfft(signals, axis=1)
    spectrum[:, 2000:] = 0
    signals = cp.fft.irfft(spectrum, n=16384, axis=1)
print(float(signals.std()))
