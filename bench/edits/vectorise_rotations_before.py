import cupy as cp

rng = cp.random.default_rng(0)
rotations = rng.random((6000, 4, 4))
points = rng.random((6000, 4, 8))
out = cp.empty((6000, 4, 8))
for i in range(6000):
    out[i] = rotations[i] @ points[i]
print(float(out.sum()))
