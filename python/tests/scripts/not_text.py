import numpy as np
print("ÿ")
