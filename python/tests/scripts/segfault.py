import os
import signal
import time

import numpy as np

a = np.ones((50, 50))
until = time.monotonic() + 1.2
while time.monotonic() < until:
    a @ a
print("now", flush=True)
os.kill(os.getpid(), signal.SIGSEGV)
