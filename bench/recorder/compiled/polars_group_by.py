import numpy as np, polars as pl
rng = np.random.default_rng(0)
df = pl.DataFrame({"k": rng.integers(0, 100000, 4_000_000), "v": rng.normal(size=4_000_000)})
for _ in range(60):
    a = df.group_by("k").agg(pl.col("v").mean().alias("m"), pl.col("v").std().alias("s"),
        pl.col("v").quantile(0.3).alias("q")).sort("k")
print(a.shape)
