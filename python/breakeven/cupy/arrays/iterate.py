"""`cupy.flatiter`: an array's elements one after the other, where they lie, as `a.flat` gives them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..core import calls


class flatiter:
    """One pass over an array in order of rows. A number of it is a copy; what is put there is put into the array."""

    __module__ = "cupy"

    def __init__(self, a: Any) -> None:
        self._base = a
        self._index = 0

    @property
    def base(self) -> Any:
        return self._base

    def copy(self) -> Any:
        return self._base.flatten()

    def __len__(self) -> int:
        return int(self._base.size)

    def __iter__(self) -> flatiter:
        return self

    def __next__(self) -> Any:
        if self._index == len(self):
            raise StopIteration
        self._index += 1
        return self[self._index - 1]

    def __getitem__(self, ind: Any) -> Any:
        part = _part(ind)
        if not isinstance(part, slice):
            return self._base[self._place(part)].copy()
        told = {"n": len(range(len(self))[part])}
        return calls.wrapped(calls.run("cupy.ElementwiseKernel", lambda a: a.flat[part], (self._base._a,), {}, told))

    def __setitem__(self, ind: Any, value: Any) -> None:
        part = _part(ind)
        if not isinstance(part, slice):
            self._base[self._place(part)] = value
            return
        given = sys.modules["cupy"].asarray(value, dtype=self._base.dtype)

        def put(a: Any, values: Any) -> Any:
            a.flat[part] = values  # as often as it takes, as in CuPy
            return ()

        told = {"n": len(range(len(self))[part])}
        calls.run("cupy.ElementwiseKernel", put, (self._base._a, given._a), {}, told)

    def _place(self, ind: int) -> tuple[int, ...]:
        """Where an element is along each axis."""
        size, places = len(self), []
        for length in self._base.shape:
            size //= length
            places.append(ind // size)
            ind %= size
        return tuple(places)


def _part(ind: Any) -> int | slice:
    """A number or a slice, all that CuPy takes there."""
    if ind is Ellipsis:
        return slice(None)
    if isinstance(ind, slice):
        return ind
    if isinstance(ind, bool) or not isinstance(ind, (int, float, np.number)):
        raise IndexError("unsupported iterator index")
    return int(ind)
