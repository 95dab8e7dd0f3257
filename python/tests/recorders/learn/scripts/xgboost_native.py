"""XGBoost by its own interface."""

import numpy as np
import xgboost

rng = np.random.default_rng(12)
X = rng.normal(size=(20000, 20)).astype(np.float32)
y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(np.float32)
data = xgboost.DMatrix(X, y)  # op: xgboost.DMatrix
given = {"objective": "binary:logistic", "max_depth": 5, "nthread": 2}
booster = xgboost.train(given, data, 40)  # op: xgboost.Booster.update
print(booster.num_boosted_rounds(), round(float(booster.predict(data).mean()), 3))  # op: xgboost.Booster.predict
