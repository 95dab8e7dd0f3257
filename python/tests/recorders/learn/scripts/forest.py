"""A random forest in two threads."""

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

X, y = make_classification(4000, 20, n_informative=8, random_state=2)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=2)
forest = RandomForestClassifier(60, max_depth=10, n_jobs=2, random_state=2)
forest.fit(X_train, y_train)  # op: ensemble.RandomForestClassifier.fit
print(round(float(forest.predict_proba(X_test)[:, 1].mean()), 6))  # op: ensemble.RandomForestClassifier.predict_proba
print(forest.score(X_test, y_test))  # op: ensemble.RandomForestClassifier.predict
