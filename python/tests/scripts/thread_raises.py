import threading

import numpy as np


def work():
    np.ones(2) + np.ones(3)


t = threading.Thread(target=work, name="worker")
t.start()
t.join()
print("main goes on")
