"""Calls whose work threads share: large CSV files, Parquet; text in lists; rows out of order."""

import tempfile

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
count = 200_000
frame = pd.DataFrame(
    {
        "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 31 * 86_400, count), unit="s"),
        "mail": ["user%d@example.com" % i for i in range(count)],
        "amount": rng.random(count),
    }
)
with tempfile.TemporaryDirectory() as folder:
    frame.to_csv(f"{folder}/a.csv", index=False)
    read = pd.read_csv(f"{folder}/a.csv", parse_dates=["when"])
    try:
        read.to_parquet(f"{folder}/a.parquet")
        print(pd.read_parquet(f"{folder}/a.parquet").shape)
    except ImportError:
        print("no pyarrow")
domains = read["mail"].str.split("@").str[1]
print(domains.nunique())
print(read.set_index("when").resample("D")["amount"].sum().round(3).head(2))
