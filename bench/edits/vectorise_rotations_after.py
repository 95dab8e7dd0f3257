import cupy as cp

rng = cp.random.default_rng(0)
rotations = rng.random((6000, 4, 4))
points = rng.random((6000, 4, 8))
out = rotations @ points
print(float(out.sum()))
