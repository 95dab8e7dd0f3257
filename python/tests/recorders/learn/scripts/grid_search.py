"""A grid search with cross-validation, and cross-validation alone: each fit is an op."""

from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.tree import DecisionTreeClassifier

X, y = make_classification(6000, 30, n_informative=10, random_state=5)
search = GridSearchCV(LogisticRegression(max_iter=500), {"C": [0.01, 0.1, 1.0, 10.0]}, cv=3)
search.fit(X, y)  # op: linear_model.LogisticRegression.fit, linear_model.LogisticRegression.predict
print(search.best_params_, round(search.best_score_, 5))
scores = cross_val_score(DecisionTreeClassifier(random_state=5), X, y, cv=4)  # op: tree.DecisionTreeClassifier.fit
print(scores.round(4))
