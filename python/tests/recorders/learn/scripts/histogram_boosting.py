"""Histogram gradient boosting, which cuml.accel has not."""

from sklearn.datasets import make_regression
from sklearn.ensemble import HistGradientBoostingRegressor

X, y = make_regression(8000, 10, noise=1.0, random_state=3)
model = HistGradientBoostingRegressor(max_iter=60, random_state=3)
model.fit(X, y)  # op: ensemble.HistGradientBoostingRegressor.fit
print(model.n_iter_, round(float(model.predict(X).mean()), 4))  # op: ensemble.HistGradientBoostingRegressor.predict
