"""A lazy join, a group-by, windows."""
import numpy as np
import polars as pl

rng = np.random.default_rng(1)
n = 200_000
orders = pl.DataFrame({"k": rng.integers(0, 1000, n), "v": rng.random(n), "g": rng.integers(0, 9, n)})
names = pl.DataFrame({"k": np.arange(1000), "w": rng.random(1000)})
query = (
    orders.lazy().filter(pl.col("v") > 0.25).join(names.lazy(), on="k")
    .with_columns((pl.col("v") * pl.col("w")).alias("x"))
    .group_by("g").agg(pl.col("x").sum(), pl.len().alias("n")).sort("g")
)
print(query.collect().with_columns(pl.col("x").round(6)))
windows = orders.lazy().with_columns(pl.col("v").sum().over("g").alias("all")).select(pl.col("all").max().round(3))
print(windows.collect())
print(query.explain().count("JOIN"))
