import cupy as cp

a = cp.ones(1000, dtype=cp.float32)
seen = []
for step in range(4000):
    a = a * 0.999
    total = a.sum()
    if step % 10 == 9:
        seen.append(total.item())
print(len(seen) > 0)
