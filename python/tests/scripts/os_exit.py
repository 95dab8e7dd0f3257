import os

import numpy as np

print(np.arange(3) + 1, flush=True)
os._exit(9)
