"""Pivot, rank, dummies, correlation, quantiles."""
import numpy as np
import pandas as pd

rng = np.random.default_rng(2)
n = 40_000
frame = pd.DataFrame({"k": rng.integers(0, 20, n), "c": rng.integers(0, 6, n), "x": rng.random(n), "y": rng.random(n)})
wide = frame.pivot_table(index="k", columns="c", values="x", aggfunc="mean")
with_margins = frame.pivot_table(index="k", columns="c", values="x", aggfunc="sum", margins=True)
long = wide.reset_index().melt(id_vars="k")
ranks = frame["x"].rank()
dummies = pd.get_dummies(frame["c"])
correlation = frame[["x", "y"]].corr()
print(wide.shape, with_margins.shape, long.shape, ranks.max(), dummies.sum().sum(), correlation.shape)
print(frame[["x", "y"]].describe().round(3).shape, frame["x"].quantile(0.5) > 0.4)
