"""Functions of the script's own, row by row."""
import numpy as np
import pandas as pd

frame = pd.DataFrame({"a": np.arange(3000.0), "b": np.arange(3000.0) % 7})
double = frame.apply(lambda row: row["a"] * row["b"], axis=1)
mapped = frame["b"].map(lambda value: value + 1)
total = 0.0
for _, row in frame.head(400).iterrows():
    total += row["a"] - row["b"]
for row in frame.head(400).itertuples():
    total += row.a
named = frame["b"].agg(np.sum)
print(double.sum(), mapped.sum(), total, named)
