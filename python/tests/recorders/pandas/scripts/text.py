"""Strings, dates, categoricals."""
import pandas as pd

names = pd.Series([f"Name {i % 97} of {i % 13}" for i in range(30_000)])
upper = names.str.upper()
parts = names.str.split(" ", expand=True)
has = names.str.contains("of 7")
lengths = names.str.len()
when = pd.to_datetime(pd.Series(pd.date_range("2020-01-01", periods=30_000, freq="h")).astype(str))
frame = pd.DataFrame({"when": when, "name": upper, "n": lengths})
frame["year"], frame["weekday"] = frame["when"].dt.year, frame["when"].dt.day_name()
kinds = frame["weekday"].astype("category")
print(parts.shape, int(has.sum()), lengths.mean(), frame["year"].nunique(), kinds.cat.codes.max())
print(frame.groupby("weekday", observed=True)["n"].mean().round(3).to_dict())
