import numpy as np
import pandas as pd

a, b = np.random.default_rng(0).random((2, 60_000))
df = pd.DataFrame({"a": a, "b": b})


def gain(row):
    if row["a"] > row["b"]:
        return row["a"] - row["b"]
    return 0.0


df["c"] = df.apply(gain, axis=1)
print(df["c"].sum() > 0)
