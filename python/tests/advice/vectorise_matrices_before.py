import numpy as np

rng = np.random.default_rng(0)
matrices = rng.random((60_000, 4, 4))
total = 0.0
for m in matrices:
    total += (np.linalg.inv(m + 4.0) @ m).trace()
print(total > 0)
