"""XGBoost by its estimators, within cross-validation."""

import numpy as np
import xgboost
from sklearn.model_selection import cross_val_score

rng = np.random.default_rng(13)
X = rng.normal(size=(6000, 15)).astype(np.float32)
y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
model = xgboost.XGBClassifier(n_estimators=30, max_depth=4, n_jobs=2)
print(cross_val_score(model, X, y, cv=3).shape)  # op: xgboost.XGBClassifier.fit, xgboost.XGBClassifier.predict
model.fit(X, y)  # op: xgboost.XGBClassifier.fit
print(model.predict_proba(X).shape)  # op: xgboost.XGBClassifier.predict_proba
