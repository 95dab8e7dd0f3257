import cupy as cp

u = cp.full(2000, 0.3, dtype=cp.float32)
v = cp.full(2000, 0.2, dtype=cp.float32)
for _ in range(3000):
    u = u + 0.1 * (u - u * u * u / 3 - v)
print(float(u.mean()))
