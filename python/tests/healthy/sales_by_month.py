"""A table grouped and joined by pandas' own functions."""

import numpy as np
import pandas as pd

rng = np.random.default_rng(1)
sales = pd.DataFrame(
    {"shop": rng.integers(0, 50, 20_000), "month": rng.integers(1, 13, 20_000), "paid": rng.random(20_000)}
)
shops = pd.DataFrame({"shop": np.arange(50), "region": rng.integers(0, 5, 50)})
table = sales.merge(shops, on="shop").groupby(["region", "month"])["paid"].agg(["sum", "mean"])
table["share"] = table["sum"] / table["sum"].sum()
print(len(table) == 60)
