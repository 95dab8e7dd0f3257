import numpy as np
import pandas as pd

change = pd.Series(np.random.default_rng(0).normal(size=1_000_000))
gain = pd.Series(np.where(change > 0, change * 2.0, 0.0))
print(gain.sum())
