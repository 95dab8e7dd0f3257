import numpy as np

x = np.random.default_rng(0).random(1_000_000)
out = np.empty(len(x))
for i in range(len(x)):
    if x[i] > 0.5:
        out[i] = x[i] * 2
    else:
        out[i] = 0
print(out.sum() > 0)
