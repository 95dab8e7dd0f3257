"""Ten group-bys and five joins, as db-benchmark asks them."""
import numpy as np
import pandas as pd

rng = np.random.default_rng(3)
n, k = 100_000, 100
x = pd.DataFrame({
    "id1": [f"id{i:03d}" for i in rng.integers(1, k + 1, n)], "id2": [f"id{i:03d}" for i in rng.integers(1, k + 1, n)],
    "id3": [f"id{i:010d}" for i in rng.integers(1, n // k + 1, n)], "id4": rng.integers(1, k + 1, n),
    "id5": rng.integers(1, k + 1, n), "id6": rng.integers(1, n // k + 1, n),
    "v1": rng.integers(1, 6, n), "v2": rng.integers(1, 16, n), "v3": (rng.random(n) * 100).round(6),
})
answers = [
    x.groupby("id1", as_index=False, sort=False, observed=True).agg({"v1": "sum"}),
    x.groupby(["id1", "id2"], as_index=False, sort=False, observed=True).agg({"v1": "sum"}),
    x.groupby("id3", as_index=False, sort=False, observed=True).agg({"v1": "sum", "v3": "mean"}),
    x.groupby("id4", as_index=False, sort=False, observed=True).agg({"v1": "mean", "v2": "mean", "v3": "mean"}),
    x.groupby("id6", as_index=False, sort=False, observed=True).agg({"v1": "sum", "v2": "sum", "v3": "sum"}),
    x.groupby(["id4", "id5"], as_index=False, sort=False, observed=True).agg({"v3": ["median", "std"]}),
    x.groupby("id3", as_index=False, sort=False, observed=True).agg({"v1": "max", "v2": "min"}),
    x[["id6", "v3"]].sort_values("v3", ascending=False).groupby("id6", as_index=False, sort=False).head(2),
    x[["id2", "id4", "v1", "v2"]].groupby(["id2", "id4"], as_index=False, sort=False)[["v1", "v2"]].corr(),
    x.groupby(["id1", "id2", "id3", "id4", "id5", "id6"], as_index=False, sort=False, observed=True).agg({"v3": "sum", "v1": "size"}),
]
small = pd.DataFrame({"id4": np.arange(1, k + 1), "w": rng.random(k)})
medium = pd.DataFrame({"id6": np.arange(1, n // k + 1), "id2b": "x", "w": rng.random(n // k)})
big = pd.DataFrame({"id3": x["id3"].drop_duplicates().to_numpy(), "w": 1.0})
answers += [
    x.merge(small, on="id4"), x.merge(medium, on="id6"), x.merge(medium, how="left", on="id6"),
    x.merge(big, on="id3"), x.merge(medium, left_on="id5", right_on="id6"),
]
for answer in answers:
    print(answer.shape)
