import cupy as cp


@cp.fuse()
def fused(x):
    a = x * 2.0
    b = a + 1.0
    return a, b, cp.sqrt(b) - 0.5


x = cp.random.rand(4_000_000)
s = t = 0.0
for _ in range(50):
    a, b, x = fused(x)
    s = s + a.sum()
    t = t + b.max()
print(float(s + t) > 0)
