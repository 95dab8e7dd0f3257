"""A pipeline: its steps are the ops."""

from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = make_classification(20000, 60, n_informative=20, random_state=4)
model = make_pipeline(StandardScaler(), PCA(20, random_state=4), LogisticRegression(max_iter=300))
model.fit(X, y)  # op: decomposition.PCA.fit_transform, linear_model.LogisticRegression.fit
print(round(model.score(X, y), 5))  # op: decomposition.PCA.transform, linear_model.LogisticRegression.predict
