import numpy as np

VALUE = np.linspace(0, 1, 5) ** 2
