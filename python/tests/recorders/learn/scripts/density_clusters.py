"""DBSCAN by a metric that cuml.accel runs, and by one that it does not."""

from sklearn.cluster import DBSCAN
from sklearn.datasets import make_blobs

X, _ = make_blobs(8000, 6, centers=10, cluster_std=0.5, random_state=8)
print(len(set(DBSCAN(eps=1.0).fit_predict(X))))  # op: cluster.DBSCAN.fit_predict
print(len(set(DBSCAN(eps=1.5, metric="manhattan").fit(X).labels_)))  # op: cluster.DBSCAN.fit(metric)
