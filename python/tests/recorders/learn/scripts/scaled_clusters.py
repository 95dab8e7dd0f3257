"""Scaling and clusters of single precision, with a class of the script's own between them."""

import pickle

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.cluster import KMeans
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler


class Clipped(TransformerMixin, BaseEstimator):
    """Cuts off what lies far out."""

    def __init__(self, at=3.0):
        self.at = at

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return np.clip(X, -self.at, self.at)


class Centres(KMeans):
    """k-means that knows its largest cluster."""

    def largest(self):
        return int(np.bincount(self.labels_).argmax())


X = np.random.default_rng(11).normal(size=(12000, 20)).astype(np.float32)
centres = Centres(8, n_init=2, random_state=11)
model = Pipeline([("scale", StandardScaler()), ("clip", Clipped(2.5)), ("centres", centres)])
model.fit(X)  # op: preprocessing.StandardScaler.fit_transform, cluster.KMeans.fit
again = pickle.loads(pickle.dumps(model))
print(model["centres"].largest(), bool((again.predict(X) == model.predict(X)).all()))  # op: cluster.KMeans.predict
print(clone(model), model.get_params()["clip__at"])
