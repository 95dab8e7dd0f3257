import atexit

import numpy as np

for i in range(3):
    atexit.register(print, "handler", i, np.ones(2) * i)
atexit.register(int, "no number")
print("end of script")
