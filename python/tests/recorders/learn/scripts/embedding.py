"""An embedding by t-SNE."""

from sklearn.datasets import make_blobs
from sklearn.manifold import TSNE

X, _ = make_blobs(700, 12, centers=5, random_state=9)
placed = TSNE(random_state=9, max_iter=300).fit_transform(X)  # op: manifold.TSNE.fit_transform
print(placed.shape, bool((placed == placed).all()))
