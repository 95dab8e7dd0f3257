import numpy as np
from sklearn.linear_model import Lasso
rng = np.random.default_rng(0)
X = np.asfortranarray(rng.normal(size=(4000, 600)))
y = X @ rng.normal(size=600) + rng.normal(size=4000)
for a in np.linspace(0.0005, 0.002, 60):
    Lasso(alpha=a, tol=1e-12, max_iter=600).fit(X, y)
