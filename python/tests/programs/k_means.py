"""Lloyd's algorithm with a random start."""

import numpy as np


def cluster(points, k, rng, rounds=30):
    centres = points[rng.choice(len(points), k, replace=False)]
    for _ in range(rounds):
        distance = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        nearest = distance.argmin(axis=1)
        moved = np.array([points[nearest == i].mean(axis=0) if np.any(nearest == i) else centres[i] for i in range(k)])
        if np.allclose(moved, centres):
            break
        centres = moved
    return centres, nearest


rng = np.random.default_rng(9)
points = np.concatenate([rng.normal(loc, 0.3, (400, 2)) for loc in ((0, 0), (3, 3), (0, 4))])
centres, nearest = cluster(points, 3, rng)
print(np.sort(np.bincount(nearest)).sum(), centres.shape)
