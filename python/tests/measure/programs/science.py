"""Distances on a sphere, integration over angles, contours, self-energies, a transform by radices."""
import numpy as np

rng = np.random.default_rng(5)

t0, p0, t1, p1 = rng.random(500), rng.random(500), rng.random(500), rng.random(500)
temp = np.sin((t1 - t0) / 2) ** 2 + np.cos(t0) * np.cos(t1) * np.sin((p1 - p0) / 2) ** 2
print("arc_distance", (2 * np.arctan2(np.sqrt(temp), np.sqrt(1 - temp))).sum())

data, radius, npt = rng.random(400), rng.random(400), 10
rmax = radius.max()
res = np.zeros(npt, dtype=np.float64)
for i in range(npt):
    mask = np.logical_and(rmax * i / npt <= radius, radius < rmax * (i + 1) / npt)
    res[i] = data[mask].mean()
print("azimint_naive", res)
histu, edges = np.histogram(radius, npt)
histw = np.histogram(radius, npt, weights=data)[0]
print("azimint_hist", histw / histu, edges[1])

a1 = rng.integers(0, 1000, size=(12, 12)).astype(np.int64)
a2 = rng.integers(0, 1000, size=(12, 12)).astype(np.int64)
print("compute", np.clip(a1, 2, 10) * 4 + a2 * 3 + 9)

NR, NM, slab, order = 6, 4, 2, 3
Ham = rng.random((slab + 1, NR, NR)) + 1j * rng.random((slab + 1, NR, NR))
int_pts = rng.random(order) + 1j * rng.random(order)
Y = rng.random((NR, NM)) + 1j * rng.random((NR, NM))
P0, P1 = np.zeros((NR, NM), dtype=np.complex128), np.zeros((NR, NM), dtype=np.complex128)
for z in int_pts:
    Tz = np.zeros((NR, NR), dtype=np.complex128)
    for s in range(slab + 1):
        Tz += np.power(z, slab / 2 - s) * Ham[s]
    X = np.linalg.solve(Tz, Y) if NR != NM else np.linalg.inv(Tz)
    if abs(z) < 1.0:
        X = -X
    P0 += X
    P1 += z * X
print("contour_integral", P0.sum(), np.abs(P1).max())

Nkz, NE, Nqz, Nw, N3D, NA, NB, Norb = 2, 4, 2, 2, 2, 3, 2, 3
neigh = rng.integers(0, NA, size=(NA, NB))
dH = rng.random((NA, NB, N3D, Norb, Norb)) + 1j * rng.random((NA, NB, N3D, Norb, Norb))
G = rng.random((Nkz, NE, NA, Norb, Norb)) + 1j * rng.random((Nkz, NE, NA, Norb, Norb))
D = rng.random((Nqz, Nw, NA, NB, N3D, N3D)) + 1j * rng.random((Nqz, Nw, NA, NB, N3D, N3D))
Sigma = np.zeros((Nkz, NE, NA, Norb, Norb), dtype=np.complex128)
for k in range(Nkz):
    for E in range(NE):
        for q in range(Nqz):
            for w in range(Nw):
                for i in range(N3D):
                    for j in range(N3D):
                        for a in range(NA):
                            for b in range(NB):
                                if E - w >= 0:
                                    dHG = G[k, E - w, neigh[a, b]] @ dH[a, b, i]
                                    dHD = dH[a, b, j] * D[q, w, a, b, i, j]
                                    Sigma[k, E, a] += dHG @ dHD
print("scattering_self_energies", Sigma.sum())

R, K = 2, 5
N = R**K
x = rng.random(N) + 1j * rng.random(N)
y = x.copy()
i_coord, j_coord = np.mgrid[0:R, 0:R]
dft_mat = np.exp(-2.0j * np.pi * i_coord * j_coord / R)
for i in range(K):
    ii_coord, jj_coord = np.mgrid[0:R, 0 : R**i]
    tmp_perm = np.transpose(np.reshape(y, (R**i, R, R ** (K - i - 1))), axes=(1, 0, 2))
    D = np.empty((R, R**i, R ** (K - i - 1)), dtype=np.complex128)
    tmp = np.exp(-2.0j * np.pi * ii_coord * jj_coord / R ** (i + 1))
    D[:] = np.repeat(np.reshape(tmp, (R, R**i, 1)), R ** (K - i - 1), axis=2)
    y = np.reshape(dft_mat @ np.reshape(np.reshape(tmp_perm, (N,)) * np.reshape(D, (N,)), (R, R ** (K - 1))), (N,))
print("stockham_fft", np.allclose(y, np.fft.fft(x)), y[1])

def mandelbrot(xmin, xmax, ymin, ymax, xn, yn, itermax, horizon=2.0):
    Xi, Yi = np.mgrid[0:xn, 0:yn]
    X = np.linspace(xmin, xmax, xn, dtype=np.float64)[Xi]
    Y = np.linspace(ymin, ymax, yn, dtype=np.float64)[Yi]
    C = X + Y * 1j
    N_ = np.zeros(C.shape, dtype=np.int64)
    Z_ = np.zeros(C.shape, dtype=np.complex128)
    Xi.shape = Yi.shape = C.shape = xn * yn
    Z = np.zeros(C.shape, np.complex128)
    for i in range(itermax):
        if not len(Z):
            break
        np.multiply(Z, Z, Z)
        np.add(Z, C, Z)
        I = abs(Z) > horizon
        N_[Xi[I], Yi[I]] = i + 1
        Z_[Xi[I], Yi[I]] = Z[I]
        np.logical_not(I, I)
        Z = Z[I]
        Xi, Yi = Xi[I], Yi[I]
        C = C[I]
    return Z_.T, N_.T

Z, N = mandelbrot(-2.25, 0.75, -1.25, 1.25, 25, 20, 12)
print("mandelbrot2", N.sum(), np.abs(Z).sum())
