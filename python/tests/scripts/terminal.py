import os
import shutil
import sys

import numpy as np

print(sys.stdin.isatty(), sys.stdout.isatty(), sys.stderr.isatty(), shutil.get_terminal_size().columns > 0)
print(input("name? "), np.ones(2), os.isatty(0))
