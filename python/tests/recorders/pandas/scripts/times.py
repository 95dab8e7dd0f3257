"""Resampling, windows by time, expanding, exponential."""
import numpy as np
import pandas as pd

index = pd.date_range("2021-01-01", periods=50_000, freq="min")
frame = pd.DataFrame({"a": np.sin(np.arange(50_000) / 100), "b": np.arange(50_000.0)}, index=index)
hourly = frame.resample("h").mean()
by_time = frame["a"].rolling("30min").sum()
fixed = frame.rolling(20).max()
growing = frame["b"].expanding().mean()
smooth = frame["a"].ewm(span=10).mean()
moved = frame["b"].shift(3).diff().fillna(0.0)
print(hourly.shape, by_time.iloc[-1].round(6), fixed["b"].iloc[-1], growing.iloc[-1], smooth.iloc[-1].round(6), moved.sum())
