"""Most of the time goes into parsing text; the mean at its end is nothing.

main reason on t4: input-output-bound
"""

import os
import tempfile

import numpy as np

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "numbers.csv")
    with open(path, "w") as file:
        file.writelines(f"{i * 0.5:.6f},{i * 0.25:.6f}\n" for i in range(150_000))
    table = np.loadtxt(path, delimiter=",")
    table = np.loadtxt(path, delimiter=",")
    table = np.loadtxt(path, delimiter=",")
print(table.mean(0))
