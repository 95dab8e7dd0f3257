"""`cupy.vectorize`: a Python function of single values as one kernel over arrays."""

from __future__ import annotations

import dis
from collections.abc import Callable
from typing import Any

import numpy as np

from . import calls, kernels


class vectorize:
    """A Python function for each element. Each runs here, so the values are right; the device would compile it."""

    __module__ = "cupy"

    def __init__(
        self,
        pyfunc: Callable[..., Any],
        otypes: Any = None,
        doc: str | None = None,
        excluded: Any = None,
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        if signature is not None:
            raise NotImplementedError("cupy.vectorize does not support `signature` option currently.")
        self.pyfunc, self.otypes, self.excluded, self.cache = pyfunc, otypes, excluded, cache
        self.__doc__ = doc or pyfunc.__doc__

    def __call__(self, *args: Any) -> Any:
        if self.otypes is not None:
            raise NotImplementedError
        told: dict[str, Any] = {}

        def compute(*values: Any) -> Any:
            calls.fused = []
            try:
                made = _each(lambda *items: calls.plain(self.pyfunc(*items)), values)
            finally:
                names, calls.fused = calls.fused or [], None
            told["n"] = count = max(int(np.size(made[0])), 1)
            # A branch that few elements take counts by its share; operators by how often the source has them.
            each = [name for name in dict.fromkeys(names) for _ in range(max(round(names.count(name) / count), 1))]
            told["functions"] = kernels.counted(each + _operators(self.pyfunc))
            return made

        result = calls.wrapped(calls.run("cupy.ElementwiseKernel", compute, calls.plain(args), {}, told))
        return result if len(result) != 1 else result[0]


def _each(function: Callable[..., Any], values: tuple[Any, ...]) -> tuple[Any, ...]:
    """What the function gives for each element, in arrays of the type that all results of a place have."""
    around = np.broadcast(*map(np.asarray, values))
    # Of no elements, the types are those that one would give.
    found = [function(*items) for items in around] or [function(*(np.asarray(value).dtype.type(1) for value in values))]
    several = isinstance(found[0], tuple)
    places = zip(*found) if several else (found,)
    return tuple(np.array(place[: around.size], _type(place)).reshape(around.shape) for place in map(list, places))


def _type(results: list[Any]) -> Any:
    """One type for all: a number of the source takes that of what is computed."""
    kinds = {item.dtype for item in results if isinstance(item, (np.generic, np.ndarray))}
    numbers = {type(item): item for item in results if type(item) in (bool, int, float, complex)}
    if not kinds and not numbers:
        raise TypeError(f"Unsupported type {type(results[0])}")
    return np.result_type(*kinds, *numbers.values())


def _operators(function: Callable[..., Any]) -> list[str]:
    code = getattr(function, "__code__", None)
    steps = dis.get_instructions(code) if code is not None else ()
    return ["add" for step in steps if step.opname.startswith(("BINARY_", "COMPARE_", "UNARY_", "INPLACE_"))] or ["add"]
