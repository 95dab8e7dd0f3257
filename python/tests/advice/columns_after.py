import numpy as np
import pandas as pd

a, b = np.random.default_rng(0).random((2, 60_000))
df = pd.DataFrame({"a": a, "b": b})
df["c"] = np.where(df["a"] > df["b"], df["a"] - df["b"], 0.0)
print(df["c"].sum() > 0)
