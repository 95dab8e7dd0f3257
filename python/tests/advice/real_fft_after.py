import numpy as np

rng = np.random.default_rng(0)
x = rng.random((16, 65_536))
for _ in range(40):
    s = np.fft.rfft(x)
print(abs(s[0, 0]) > 0)
