import inspect
import sys
import traceback
import warnings


def whole():
    return [f.name for f in traceback.extract_stack()], len(inspect.stack())


print(whole())
traceback.print_stack()
warnings.warn("above the top", stacklevel=4)
sys.setrecursionlimit(120)


def down(n):
    try:
        return down(n + 1)
    except RecursionError:
        return n


print(down(0))
