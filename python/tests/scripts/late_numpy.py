def work():
    import numpy as np

    return np.tile(np.arange(3), 2)


print(work())
import numpy.linalg as la

print(la.norm([3.0, 4.0]), la.__name__)
