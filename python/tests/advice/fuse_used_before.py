import cupy as cp

x = cp.random.rand(4_000_000)
s = t = 0.0
for _ in range(50):
    a = x * 2.0
    b = a + 1.0
    c = cp.sqrt(b)
    x = c - 0.5
    s = s + a.sum()
    t = t + b.max()
print(float(s + t) > 0)
