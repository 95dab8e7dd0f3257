import threading

import numpy as np

results = {}


def work(i):
    a = np.full((40, 40), float(i))
    for _ in range(200):
        a = a * 0.5 + 1
    results[i] = a[0, 0]


threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(sorted(results.items()))
