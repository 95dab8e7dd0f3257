"""LightGBM and CatBoost by their estimators."""

import warnings

import catboost
import lightgbm
import numpy as np

warnings.simplefilter("ignore")
rng = np.random.default_rng(14)
X = rng.normal(size=(8000, 12))
y = X[:, 0] * X[:, 1] + X[:, 2]
light = lightgbm.LGBMRegressor(n_estimators=40, num_leaves=15, n_jobs=2, verbose=-1)
light.fit(X, y)  # op: lightgbm.LGBMRegressor.fit
cat = catboost.CatBoostRegressor(iterations=40, depth=5, verbose=False, thread_count=2, allow_writing_files=False)
cat.fit(X, y)  # op: catboost.CatBoostRegressor.fit
print(light.predict(X).shape)  # op: lightgbm.LGBMRegressor.predict
print(cat.predict(X).shape)  # op: catboost.CatBoostRegressor.predict
