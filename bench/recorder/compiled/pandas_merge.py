import numpy as np, pandas as pd
rng = np.random.default_rng(0)
a = pd.DataFrame({"k": rng.integers(0, 300000, 1_000_000), "v": rng.normal(size=1_000_000)})
b = pd.DataFrame({"k": np.arange(300000), "w": rng.normal(size=300000)})
for _ in range(25):
    c = a.merge(b, on="k").sort_values("w")
print(len(c))
