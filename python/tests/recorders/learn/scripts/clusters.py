"""k-means of blobs, and how well they are apart."""

from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import silhouette_score

X, _ = make_blobs(6000, 16, centers=6, random_state=1)
model = KMeans(n_clusters=6, n_init=3, random_state=1).fit(X)  # op: cluster.KMeans.fit
labels = model.predict(X)  # op: cluster.KMeans.predict
print(model.n_iter_, round(silhouette_score(X, labels), 6))  # op: metrics.silhouette_score
