"""Files: scanned, filtered while read, written."""
import polars as pl

frame = pl.DataFrame({"k": [i % 50 for i in range(50_000)], "s": [f"name {i % 91}" for i in range(50_000)], "v": [i / 7 for i in range(50_000)]})
frame.write_csv("frame.csv")
frame.write_parquet("frame.parquet")
print(pl.scan_csv("frame.csv").filter(pl.col("v") > 1000).group_by("k").agg(pl.col("v").max()).sort("k").collect().head(2))
print(pl.scan_parquet("frame.parquet").select(pl.col("s").str.to_uppercase().n_unique()).collect().item())
pl.scan_parquet("frame.parquet").filter(pl.col("k") == 3).sink_csv("part.csv")
print(pl.read_csv("part.csv").shape)
