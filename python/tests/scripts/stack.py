import sys
import traceback
import warnings


def depth():
    frame, n = sys._getframe(), 0
    while frame is not None and frame.f_globals is globals():
        frame, n = frame.f_back, n + 1
    return n


def recurse(n):
    return 0 if n == 0 else 1 + recurse(n - 1)


def warns():
    warnings.warn("look out", stacklevel=2)


print(depth(), recurse(200), [f.name for f in traceback.extract_stack()][-1])
warns()
print([f.name for f in traceback.extract_stack(sys._getframe())][-1:])
