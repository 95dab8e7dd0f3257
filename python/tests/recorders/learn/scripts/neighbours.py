"""Neighbours: a classifier and a search."""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

rng = np.random.default_rng(7)
X = rng.normal(size=(8000, 24)).astype(np.float32)
y = (X[:, 0] + X[:, 1] > 0).astype(int)
model = KNeighborsClassifier(7, algorithm="brute").fit(X, y)  # op: neighbors.KNeighborsClassifier.fit
print(model.predict(X[:3000]).sum())  # op: neighbors.KNeighborsClassifier.predict
search = NearestNeighbors(n_neighbors=5).fit(X)
distances, places = search.kneighbors(X[:2000])  # op: neighbors.NearestNeighbors.kneighbors
print(distances.shape, int(places.sum()))
