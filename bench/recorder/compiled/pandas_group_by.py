import numpy as np, pandas as pd
rng = np.random.default_rng(0)
df = pd.DataFrame({"k": rng.integers(0, 50000, 2_000_000), "g": rng.integers(0, 7, 2_000_000),
    "v": rng.normal(size=2_000_000)})
for _ in range(8):
    a = df.groupby(["k", "g"])["v"].agg(["mean", "std", "max"])
    b = df.groupby("k").v.median()
print(len(a), len(b))
