"""A polynomial fit whose normal matrix is conditioned at 1e13: double precision is needed, and `solve` is right."""

import numpy as np

x = np.linspace(0.0, 1.0, 20_000)
powers = np.vander(x, 10, increasing=True)
truth = np.arange(1.0, 11.0)
normal = powers.T @ powers
found = np.linalg.solve(normal, powers.T @ (powers @ truth))
print(f"largest error {np.abs(found - truth).max():.1e}, condition {np.linalg.cond(normal):.0e}")
