import numpy as np

np.load("not_there.npy")
