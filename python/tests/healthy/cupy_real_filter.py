import cupy as cp

signal = cp.random.default_rng(0).random((64, 4096), dtype=cp.float32)
spectrum = cp.fft.rfft(signal, axis=1)
spectrum[:, 200:] = 0
print(cp.fft.irfft(spectrum, n=4096, axis=1).dtype)
