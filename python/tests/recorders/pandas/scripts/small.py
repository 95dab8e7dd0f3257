"""A loop over small frames."""
import pandas as pd

base = pd.DataFrame({"a": range(12), "b": [i % 3 for i in range(12)]})
total = 0.0
for i in range(300):
    part = base[base["a"] > i % 10]
    total += part.groupby("b")["a"].sum().max()
print(total)
