"""Support vectors: two classes, then three, and probabilities, which cuml.accel leaves on the CPU."""

import warnings

from sklearn.datasets import make_classification
from sklearn.svm import SVC

warnings.simplefilter("ignore")
X, y = make_classification(2500, 20, n_informative=10, n_classes=2, random_state=6)
model = SVC(C=2.0).fit(X, y)  # op: svm.SVC.fit
print(len(model.support_vectors_), model.predict(X).sum())  # op: svm.SVC.predict
likely = SVC(probability=True, random_state=6)
print(likely.fit(X[:600], y[:600]).predict_proba(X[:5]).shape)  # op: svm.SVC.fit(probability)
X, y = make_classification(1500, 20, n_informative=10, n_classes=3, random_state=6)
print(SVC().fit(X, y).score(X, y))  # op: svm.SVC.fit(classes), svm.SVC.predict(classes)
