import cupy as cp

images = cp.random.default_rng(0).random((64, 512, 512))
means = []
for step in range(20):
    brightened = images * (1 + step / 100)
    means.append(float(brightened.mean()))
print(round(sum(means), 3) > 0)
