"""Functions of the script's own, what it writes to stderr, and what fails."""
import os
import sys

import polars as pl

frame = pl.DataFrame({"k": [1, 2, 3] * 1000, "v": [1.0, 2.0, 3.0] * 1000})


def loud(values):
    print("in the query", file=sys.stderr)
    return values * 2


print(frame.lazy().select(pl.col("v").map_batches(loud)).collect().sum().item())
print(frame.lazy().with_columns(pl.col("k").map_elements(lambda k: k + 1, return_dtype=pl.Int64)).collect()["k"].sum())
print("before", file=sys.stderr)
try:
    frame.lazy().select(pl.col("nothing")).collect()
except pl.exceptions.ColumnNotFoundError as error:
    print(type(error).__name__)
print(frame.lazy().select(pl.col("v").str.to_uppercase() if False else pl.col("v").max()).collect().item())
os.write(2, b"after\n")
print(os.environ.get("POLARS_TRACK_METRICS"))
