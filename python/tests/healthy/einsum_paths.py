import numpy as np

rng = np.random.default_rng(0)
a, b = rng.random((40, 30), dtype=np.float32), rng.random((30, 50), dtype=np.float32)
print(np.einsum("ij,jk->ik", a, b).shape)
