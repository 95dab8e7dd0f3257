import numpy as np, pandas as pd
s = pd.Series(np.random.default_rng(0).normal(size=500_000))
for _ in range(20):
    r = s.rolling(50).median()
    q = s.rolling(200).std()
print(r.sum())
