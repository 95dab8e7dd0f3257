import numpy as np
from sklearn.ensemble import RandomForestClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(20000, 20)); y = (X[:, 0] + X[:, 1] ** 2 > 1).astype(int)
m = RandomForestClassifier(n_estimators=30, random_state=0).fit(X, y)
print(m.score(X, y))
