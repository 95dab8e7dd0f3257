import traceback

import numpy as np

a = np.zeros(3)
try:
    a[7] = 1
except IndexError:
    traceback.print_exc()
try:
    a["x"]
except IndexError as error:
    raise RuntimeError("second") from error
