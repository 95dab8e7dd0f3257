import cupy as cp


@cp.fuse()
def react(u, v):
    return u + 0.1 * (u - u * u * u / 3 - v)


u = cp.full(2000, 0.3, dtype=cp.float32)
v = cp.full(2000, 0.2, dtype=cp.float32)
for _ in range(3000):
    u = react(u, v)
print(float(u.mean()))
