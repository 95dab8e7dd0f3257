import os

import numpy as np

a = np.arange(6.0).reshape(2, 3)
np.save("a.npy", a)
np.savetxt("a.txt", a)
b = np.load("a.npy")
c = np.loadtxt("a.txt")
with open("sum.txt", "w") as file:
    print((b + c).sum(), file=file)
m = np.memmap("m.bin", dtype="f8", mode="w+", shape=(3,))
m[:] = b[0] * 2
m.flush()
print(sorted(os.listdir(".")), sorted(os.environ.get("HOME", "")) != [])
