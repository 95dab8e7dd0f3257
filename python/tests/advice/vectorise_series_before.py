import numpy as np
import pandas as pd

change = pd.Series(np.random.default_rng(0).normal(size=1_000_000))
gain = change.apply(lambda x: x * 2.0 if x > 0 else 0.0)
print(gain.sum())
