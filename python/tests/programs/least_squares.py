"""Polynomial regression three ways."""

import numpy as np

rng = np.random.default_rng(3)
x = rng.uniform(-1, 1, size=4000)
y = 1 - 2 * x + 0.5 * x**3 + 0.1 * rng.standard_normal(x.size)
design = np.vander(x, 6, increasing=True)
by_lstsq, *_ = np.linalg.lstsq(design, y, rcond=None)
gram = design.T @ design
by_normal = np.linalg.solve(gram, design.T.dot(y))
q, r = np.linalg.qr(design)
by_qr = np.linalg.solve(r, q.T @ y)
residual = y - design @ by_qr
print(np.allclose(by_lstsq, by_normal), np.allclose(by_lstsq, by_qr), round(float(np.sqrt(np.mean(residual**2))), 3))
