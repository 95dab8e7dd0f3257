import os
import signal

import numpy as np

print(np.ones(3).sum(), flush=True)
os.kill(os.getpid(), signal.SIGTERM)
