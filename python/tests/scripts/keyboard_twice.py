import atexit
import os
import signal

import numpy as np

atexit.register(print, "handler")
a = np.ones(10)
try:
    os.kill(os.getpid(), signal.SIGINT)
    while True:
        a = a * 1.0
except KeyboardInterrupt:
    print("once", flush=True)
os.kill(os.getpid(), signal.SIGINT)
while True:
    a = a * 1.0
