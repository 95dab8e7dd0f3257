import pickle
import inspect

import numpy as np
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.special
from scipy import fft, sparse

a = np.eye(3) + 0.1
print(scipy.linalg.solve(a, np.ones(3)), scipy.special.erf(0.5), fft.fft([1.0, 2.0]).real)
print(scipy.signal.fftconvolve([1.0, 2, 3], [1.0, 1.0]), scipy.ndimage.gaussian_filter(a, 1.0)[0, 0])
print(sparse.csr_matrix(a) @ np.ones(3))
print(pickle.loads(pickle.dumps(scipy.linalg.solve)) is scipy.linalg.solve, inspect.signature(scipy.linalg.det))
scipy.linalg.cholesky(-a)
