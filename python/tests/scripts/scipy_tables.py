"""SciPy asks some functions who they are: filters and windows that it finds by name in its tables."""

import numpy as np
from scipy import signal
from scipy.signal import windows

FILTERS = {"butter": {}, "cheby1": {"rp": 1}, "cheby2": {"rs": 40}, "ellip": {"rp": 1, "rs": 40}, "bessel": {}}
for kind, options in FILTERS.items():
    print(kind, signal.iirfilter(3, 0.3, btype="low", ftype=kind, **options)[1].round(6))
print(signal.iirdesign(0.2, 0.3, 1, 40)[0].round(6))
for window in ("hann", ("kaiser", 4.0), ("dpss", 2.5), ("general_cosine", [0.5, 0.3, 0.2]), ("chebwin", 60)):
    print(window, signal.get_window(window, 8).round(6))
print(signal.welch(np.sin(np.arange(512.0)), window=("dpss", 3.0))[1].argmax())
print(windows.hann is signal.windows.hann, signal.butter == signal.butter, signal.butter != signal.cheby1)
print({signal.butter: 1}[signal.butter], signal.butter in [signal.cheby1, signal.butter])
