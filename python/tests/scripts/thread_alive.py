import threading
import time

import numpy as np


def late():
    time.sleep(0.2)
    print("late", (np.arange(3) ** 2).sum(), threading.main_thread().is_alive())


threading.Thread(target=late).start()
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print("main is done", flush=True)
