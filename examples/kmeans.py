"""k-means, 200 000 points in 16 dimensions, 20 clusters, 10 rounds.

Expect: the GPU wins once warm: one tall matrix product and an argmin a round.
"""
import numpy as np

POINTS, DIMENSIONS, CLUSTERS, ROUNDS = 200_000, 16, 20, 10
rng = np.random.default_rng(5)
points = rng.standard_normal((POINTS, DIMENSIONS)) + rng.integers(0, 5, (POINTS, 1))
centres = points[rng.choice(POINTS, CLUSTERS, replace=False)].copy()
for _ in range(ROUNDS):
    distance = (points**2).sum(axis=1)[:, None] - 2.0 * points @ centres.T + (centres**2).sum(axis=1)
    nearest = distance.argmin(axis=1)
    for k in range(CLUSTERS):
        members = points[nearest == k]
        if len(members):
            centres[k] = members.mean(axis=0)
inertia = np.take_along_axis(distance, nearest[:, None], axis=1).sum()
print(f"inertia {inertia:.1f}")
