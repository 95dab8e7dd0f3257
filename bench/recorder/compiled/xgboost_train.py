import numpy as np, xgboost as xgb
rng = np.random.default_rng(0)
X = rng.normal(size=(50000, 30)); y = (X[:, 0] * X[:, 1] > 0).astype(int)
d = xgb.DMatrix(X, y)
b = xgb.train({"max_depth": 6, "objective": "binary:logistic"}, d, 150)
print(b.predict(d).mean() > 0)
