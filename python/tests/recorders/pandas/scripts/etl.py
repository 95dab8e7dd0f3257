"""Read a file, join, group, fold windows, write."""
import numpy as np
import pandas as pd

rng = np.random.default_rng(1)
n = 60_000
orders = pd.DataFrame({"customer": rng.integers(0, 500, n), "amount": rng.random(n), "day": rng.integers(0, 90, n)})
orders.to_csv("orders.csv", index=False)
customers = pd.DataFrame({"customer": np.arange(500), "region": [f"r{i % 7}" for i in range(500)]})

read = pd.read_csv("orders.csv")
joined = read.merge(customers, on="customer")
large = joined[joined["amount"] > 0.25]
by_region = large.groupby("region")["amount"].agg(["sum", "mean", "count"])
daily = large.groupby("day")["amount"].sum().sort_index()
smooth = daily.rolling(7).mean()
top = large.nlargest(5, "amount")
print(by_region.round(6))
print(smooth.tail(3).round(6))
print(top.shape, float(top["amount"].iloc[0]) <= 1.0)
