"""Queries on a frame, on a table of DuckDB's own, and one that fails."""

import duckdb
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
frame = pd.DataFrame({"k": rng.integers(0, 1000, 300_000), "v": rng.random(300_000)})
connection = duckdb.connect()
top = connection.execute("select k, sum(v) s from frame where v > 0.1 group by k order by s desc limit 5").df()
print(top.round(3))
connection.execute("create table t as select range i, range % 100 g from range(500000)")
print(connection.sql("select g, count(*) c from t group by g order by g limit 3").fetchall())
print(duckdb.sql("select count(*) from frame").fetchall())
try:
    connection.execute("select nothing from t")
except duckdb.Error as error:
    print(type(error).__name__)
