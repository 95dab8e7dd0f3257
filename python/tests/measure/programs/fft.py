"""A field solved in Fourier space, and a filter of a signal by SciPy's transforms."""
import numpy as np
import scipy.fft
import scipy.signal

n = 64
k = np.fft.fftfreq(n, 1 / n)
kx, ky = np.meshgrid(k, k, indexing="ij")
laplace = -(kx**2 + ky**2)
laplace[0, 0] = 1
x = np.linspace(0, 2 * np.pi, n, endpoint=False)
source = np.sin(x)[:, None] * np.cos(3 * x)[None, :]
phi = np.fft.ifft2(np.fft.fft2(source) / laplace).real
print(np.abs(phi + source / 10).max() < 1e-12, phi[3, 5])
spectrum = np.fft.rfft(source[5])
signal = np.sin(40 * x) + 0.3 * np.random.default_rng(1).standard_normal(n)
window = scipy.signal.get_window("hann", n)
power = np.abs(scipy.fft.rfft(signal * window)) ** 2
smooth = scipy.signal.savgol_filter(signal, 7, 2)
print(int(np.argmax(power)), f"{power.sum():.8f}", smooth.std(), np.fft.fftshift(k)[:3])
