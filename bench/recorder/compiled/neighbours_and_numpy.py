import numpy as np, pandas as pd
from sklearn.neighbors import KNeighborsClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(8000, 12)); y = (X[:, 0] > 0).astype(int)
k = KNeighborsClassifier(15, algorithm="kd_tree").fit(X, y)
for _ in range(2):
    print(k.score(X, y))
df = pd.DataFrame({"a": rng.normal(size=500_000)})
df["b"] = df.a.apply(lambda v: v * v if v > 0 else -v)
A = rng.normal(size=(1500, 1500))
for _ in range(6):
    A = A @ A.T / 1500
s = 0
for i in range(8_000_000):
    s += i & 3
print(s)
