"""Sweeps over grids of one to three dimensions."""
import numpy as np

rng = np.random.default_rng(3)

N, steps = 16, 4
u = np.fromfunction(lambda i, j: (i + N - j) / N, (N, N), dtype=np.float64)
v, p, q = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
DX, DT = 1.0 / N, 1.0 / steps
mul1, mul2 = 2.0 * DT / DX**2, 1.0 * DT / DX**2
a, d = -mul1 / 2.0, -mul2 / 2.0
b, e = 1.0 + mul1, 1.0 + mul2
c, f = a, d
for t in range(steps):
    v[0, 1 : N - 1] = 1.0
    p[1 : N - 1, 0] = 0.0
    q[1 : N - 1, 0] = v[0, 1 : N - 1]
    for j in range(1, N - 1):
        p[1 : N - 1, j] = -c / (a * p[1 : N - 1, j - 1] + b)
        q[1 : N - 1, j] = (
            -d * u[j, 0 : N - 2] + (1.0 + 2.0 * d) * u[j, 1 : N - 1] - f * u[j, 2:N] - a * q[1 : N - 1, j - 1]
        ) / (a * p[1 : N - 1, j - 1] + b)
    v[N - 1, 1 : N - 1] = 1.0
    for j in range(N - 2, 0, -1):
        v[j, 1 : N - 1] = p[1 : N - 1, j] * v[j + 1, 1 : N - 1] + q[1 : N - 1, j]
    u[1 : N - 1, 1 : N - 1] = v[1 : N - 1, 1 : N - 1].T
print("adi", u.sum())

alpha = 0.25
k = (1.0 - np.exp(-alpha)) ** 2 / (1.0 + alpha * np.exp(-alpha) - np.exp(2.0 * alpha))
img = rng.random((20, 12))
y1, y2 = np.empty_like(img), np.empty_like(img)
b1, b2 = 2.0 ** (-alpha), -np.exp(-2.0 * alpha)
y1[:, 0] = k * img[:, 0]
y1[:, 1] = k * img[:, 1] + b1 * y1[:, 0]
for j in range(2, 12):
    y1[:, j] = k * img[:, j] + k * img[:, j - 1] + b1 * y1[:, j - 1] + b2 * y1[:, j - 2]
y2[:, -1] = 0.0
y2[:, -2] = k * img[:, -1]
for j in range(9, -1, -1):
    y2[:, j] = k * img[:, j + 1] + k * img[:, j + 2] + b1 * y2[:, j + 1] + b2 * y2[:, j + 2]
print("deriche", (y1 + y2).sum())

A = np.fromfunction(lambda i, j, k: (i + j + (10 - k)) * 10 / 10, (10, 10, 10), dtype=np.float64)
B = A.copy()
for _ in range(3):
    for src, dst in ((A, B), (B, A)):
        dst[1:-1, 1:-1, 1:-1] = (
            0.125 * (src[2:, 1:-1, 1:-1] - 2.0 * src[1:-1, 1:-1, 1:-1] + src[:-2, 1:-1, 1:-1])
            + 0.125 * (src[1:-1, 2:, 1:-1] - 2.0 * src[1:-1, 1:-1, 1:-1] + src[1:-1, :-2, 1:-1])
            + 0.125 * (src[1:-1, 1:-1, 2:] - 2.0 * src[1:-1, 1:-1, 1:-1] + src[1:-1, 1:-1, :-2])
            + src[1:-1, 1:-1, 1:-1]
        )
print("heat_3d", A.sum(), B[1, 2, 3])

line, other = rng.random(64), rng.random(64)
for _ in range(10):
    other[1:-1] = 0.33333 * (line[:-2] + line[1:-1] + line[2:])
    line[1:-1] = 0.33333 * (other[:-2] + other[1:-1] + other[2:])
print("jacobi_1d", line.sum())

S = rng.random((12, 12))
for _ in range(2):
    for i in range(1, 11):
        S[i, 1:-1] += S[i - 1, :-2] + S[i - 1, 1:-1] + S[i - 1, 2:] + S[i, 2:]
        S[i, 1:-1] += S[i + 1, :-2] + S[i + 1, 1:-1] + S[i + 1, 2:]
        for j in range(1, 11):
            S[i, j] += S[i, j - 1]
            S[i, j] /= 9.0
print("seidel_2d", S.sum())

I, J, K = 10, 9, 4
field, coeff = rng.random((I + 4, J + 4, K)), rng.random((I, J, K))
lap = 4.0 * field[1:-1, 1:-1, :] - (field[2:, 1:-1, :] + field[:-2, 1:-1, :] + field[1:-1, 2:, :] + field[1:-1, :-2, :])
res = lap[1:, 1:-1, :] - lap[:-1, 1:-1, :]
flx = np.where((res * (field[2:-1, 2:-2, :] - field[1:-2, 2:-2, :])) > 0, 0, res)
res = lap[1:-1, 1:, :] - lap[1:-1, :-1, :]
fly = np.where((res * (field[2:-2, 2:-1, :] - field[2:-2, 1:-2, :])) > 0, 0, res)
print("hdiff", (field[2:-2, 2:-2, :] - coeff * (flx[1:, :, :] - flx[:-1, :, :] + fly[:, 1:, :] - fly[:, :-1, :])).sum())

wcon, stage = rng.random((I + 1, J, K)), rng.random((I, J, K))
pos = rng.random((I, J, K))
ccol, dcol = np.ndarray((I, J, K), dtype=wcon.dtype), np.ndarray((I, J, K), dtype=wcon.dtype)
data_col = np.ndarray((I, J), dtype=wcon.dtype)
for k in range(K):
    gcv = 0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
    cs = gcv * 0.6
    ccol[:, :, k] = gcv * 0.4
    bcol = 3.0 - ccol[:, :, k]
    dcol[:, :, k] = 0.15 * pos[:, :, k] + stage[:, :, k] - cs * pos[:, :, k - 1 if k else k]
    if k:
        bcol -= cs * ccol[:, :, k - 1]
    ccol[:, :, k] = ccol[:, :, k] / bcol
    dcol[:, :, k] = dcol[:, :, k] / bcol
for k in range(K - 1, -1, -1):
    datacol = dcol[:, :, k] if k == K - 1 else dcol[:, :, k] - ccol[:, :, k] * data_col[:, :]
    data_col[:] = datacol
    stage[:, :, k] = 0.15 * (datacol - pos[:, :, k])
print("vadv", stage.sum())

nx = ny = 13
dx = dy = 2 / (nx - 1)
uu, vv, pp, bb = (np.zeros((ny, nx)) for _ in range(4))
udiff, count, dt, rho, nu, F = 1.0, 0, 0.01, 1.0, 0.1, 1.0
while udiff > 0.01 and count < 12:
    un, vn = uu.copy(), vv.copy()
    slopes = (uu[1:-1, 2:] - uu[1:-1, :-2]) / (2 * dx) + (vv[2:, 1:-1] - vv[:-2, 1:-1]) / (2 * dy)
    bb[1:-1, 1:-1] = rho * (1 / dt * slopes)
    for _ in range(5):
        pn = pp.copy()
        pp[1:-1, 1:-1] = ((pn[1:-1, 2:] + pn[1:-1, :-2]) * dy**2 + (pn[2:, 1:-1] + pn[:-2, 1:-1]) * dx**2) / (
            2 * (dx**2 + dy**2)
        ) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * bb[1:-1, 1:-1]
        pp[-1, :], pp[0, :] = pp[-2, :], pp[1, :]
    uu[1:-1, 1:-1] = un[1:-1, 1:-1] - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2]) + nu * (
        dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, :-2])
    ) + F * dt
    uu[0, :] = uu[-1, :] = vv[0, :] = vv[-1, :] = 0
    udiff = (np.sum(uu) - np.sum(un)) / np.sum(uu)
    count += 1
print("channel_flow", count, udiff, uu.sum())
