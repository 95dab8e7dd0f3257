import inspect
import linecache
import pickle
import sys
import typing

import numpy as np


class Point:
    """A point."""

    x: int
    y: "np.ndarray | None" = None

    def norm(self, scale: float = -1.5) -> "list[int]":
        return scale * self.x[1:-1]


def first(a: list[int], *, b: typing.Optional[int] = None) -> dict[str, int]:
    """Doc."""
    return a[0] + (b or 0)


print(inspect.getsource(first), inspect.signature(first), first.__annotations__, first.__doc__)
print(inspect.getsource(Point.norm), Point.__annotations__, inspect.getdoc(Point))
print(linecache.getline(__file__, 3), first.__code__.co_varnames, first.__code__.co_names)
p = pickle.loads(pickle.dumps(Point()))
print(type(p) is Point, Point.__module__, Point.__qualname__, pickle.dumps(Point())[:20])
print(sys._getframe().f_code.co_filename == __file__, sys._getframe().f_lineno, first.__code__.co_firstlineno)
print(pickle.loads(pickle.dumps(np.sum)) is np.sum, pickle.loads(pickle.dumps(np.add)) is np.add)
