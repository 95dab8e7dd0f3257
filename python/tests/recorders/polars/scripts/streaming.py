"""Engines by name, several queries at once, a query in a loop."""
import polars as pl

frame = pl.DataFrame({"k": [i % 50 for i in range(50_000)], "v": [i / 7 for i in range(50_000)]})
lazy = frame.lazy().group_by("k").agg(pl.col("v").sum()).sort("k")
print(lazy.collect(engine="streaming").shape, lazy.collect(engine="in-memory").shape)
first, second = pl.collect_all([lazy.select(pl.col("v").sum().round(3)), lazy.head(2)])
print(first.item(), second.shape)
total = 0.0
for i in range(40):
    total += frame.lazy().filter(pl.col("k") == i).select(pl.col("v").sum()).collect().item()
print(round(total, 3))
