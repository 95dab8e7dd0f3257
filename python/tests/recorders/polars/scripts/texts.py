"""Strings, dates, lists; functions that the GPU engine lacks."""
import polars as pl

frame = pl.DataFrame({"s": [f"a,{i % 7},b" for i in range(20_000)]}).with_row_index("i")
lazy = frame.lazy()
print(lazy.select(pl.col("s").str.contains("3").sum()).collect().item())
print(lazy.select(pl.col("s").str.split(",").list.get(1).cast(pl.Int64).sum()).collect().item())
dated = lazy.with_columns(pl.datetime(2020, 1, 1).dt.offset_by("1d").alias("t")).select(pl.col("t").dt.year().max())
print(dated.collect().item())
print(lazy.group_by(pl.col("s").str.len_chars()).agg(pl.col("i").quantile(0.5)).collect().shape)
