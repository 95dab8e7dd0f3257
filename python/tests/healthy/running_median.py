"""Medians of windows without a loop: a view of the windows, one call."""

import numpy as np

values = np.random.default_rng(2).random(20_000, dtype=np.float32)
windows = np.lib.stride_tricks.sliding_window_view(values, 31)
print(float(np.median(windows, axis=1).std()) < 1)
