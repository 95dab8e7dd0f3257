"""Calls on frames and series."""
import polars as pl

frame = pl.DataFrame({"k": [i % 50 for i in range(60_000)], "v": [float(i) for i in range(60_000)]})
grouped = frame.group_by("k").agg(pl.col("v").mean()).sort("k")
print(grouped.head(3), frame.filter(pl.col("v") > 100).height, frame["v"].sum(), frame.sort("v", descending=True)["k"][0])
print((frame["v"] + 1).max(), frame.unique("k").height, frame.pivot(on="k", values="v", aggregate_function="sum").shape)
