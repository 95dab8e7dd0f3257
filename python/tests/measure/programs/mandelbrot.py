"""The Mandelbrot set, points that have escaped taken out by a mask and `np.compress`-like indexing."""
import numpy as np

def mandelbrot(xmin, xmax, ymin, ymax, xn, yn, itermax, horizon=2.0):
    xi, yi = np.mgrid[0:xn, 0:yn]
    x = np.linspace(xmin, xmax, xn, dtype=np.float64)[xi]
    y = np.linspace(ymin, ymax, yn, dtype=np.float64)[yi]
    c = x + y * 1j
    del x, y
    n_ = np.zeros(c.shape, dtype=np.int64)
    z_ = np.zeros(c.shape, dtype=np.complex128)
    xi.shape = yi.shape = c.shape = xn * yn
    z = np.zeros(c.shape, np.complex128)
    for i in range(itermax):
        if not len(z):
            break
        np.multiply(z, z, z)
        np.add(z, c, z)
        rem = abs(z) > horizon
        n_[xi[rem], yi[rem]] = i + 1
        z_[xi[rem], yi[rem]] = z[rem]
        rem = ~rem
        z, c = z[rem], c[rem]
        xi, yi = xi[rem], yi[rem]
    return z_.T, n_.T

Z, N = mandelbrot(-2.0, 0.5, -1.25, 1.25, 40, 50, 30)
print(N.sum(), N.max(), (N == 0).sum())
