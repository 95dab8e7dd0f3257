import numpy as np

a = np.random.default_rng(0).random((100, 100))
print(np.linalg.eigh(a + a.T)[0].shape)
