import multiprocessing
import sys

import numpy as np

METHOD = sys.argv[1]


def work(n):
    return float((np.ones((n, n)) @ np.ones((n, n))).sum())


class Thing:
    def __init__(self, x):
        self.x = x


def make(x):
    return Thing(x)


if __name__ == "__main__":
    context = multiprocessing.get_context(METHOD)
    with context.Pool(2) as pool:
        print(pool.map(work, [2, 3, 4, 5]))
        print([t.x for t in pool.map(make, range(3))], type(pool.apply(make, (1,))).__module__)
    p = context.Process(target=sys.exit, args=(3,))
    p.start()
    p.join()
    print(p.exitcode)
