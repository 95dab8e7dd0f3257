import os
import sys

import numpy as np

print(np.ones(3) + 1, flush=True)
os.execv(sys.executable, [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "plain.py")])
