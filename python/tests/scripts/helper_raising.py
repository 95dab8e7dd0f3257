import numpy as np

x = np.ones(3) + np.ones(4)
