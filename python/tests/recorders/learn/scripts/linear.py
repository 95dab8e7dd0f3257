"""Ridge and lasso."""

from sklearn.datasets import make_regression
from sklearn.linear_model import Lasso, Ridge

X, y = make_regression(60000, 80, noise=3.0, random_state=10)
ridge = Ridge(alpha=2.0).fit(X, y)  # op: linear_model.Ridge.fit
lasso = Lasso(alpha=0.5).fit(X, y)  # op: linear_model.Lasso.fit
print(round(ridge.score(X, y), 6))  # op: linear_model.Ridge.predict
print(round(lasso.score(X, y), 6))  # op: linear_model.Lasso.predict
