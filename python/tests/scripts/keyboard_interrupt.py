import os
import signal

import numpy as np

a = np.ones(10)
a = a + a
os.kill(os.getpid(), signal.SIGINT)
for _ in range(10**9):
    a = a * 1.0
