"""`cupy.vectorize`: a Python function of single values as one kernel over arrays."""

from __future__ import annotations

import ast
import contextlib
import dis
import inspect
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..core import calls, shared
from . import kernels


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
        self._numbers = _numbers_given_back(pyfunc)
        self.__doc__ = doc or pyfunc.__doc__

    def __call__(self, *args: Any) -> Any:
        if self.otypes is not None:
            raise NotImplementedError
        told: dict[str, Any] = {}

        def compute(*values: Any) -> Any:
            shared.state.fused = []
            count = max(int(np.prod(np.broadcast(*map(np.asarray, values)).shape)), 1)
            watched = _Watched(self.pyfunc, count)
            try:
                made = _each(lambda *items: calls.plain(watched(*items)), values, self._numbers)
            finally:
                names, shared.state.fused = shared.state.fused or [], None
            told["n"] = count
            # A branch that few elements take counts by its share.
            each = [name for name in dict.fromkeys(names) for _ in range(max(round(names.count(name) / count), 1))]
            told["functions"] = kernels.counted(each + ["two"] * watched.operators())
            return made

        result = calls.wrapped(calls.run("cupy.ElementwiseKernel", compute, calls.plain(args), {}, told))
        return result if len(result) != 1 else result[0]


def _each(function: Callable[..., Any], values: tuple[Any, ...], numbers: list[Any]) -> tuple[Any, ...]:
    """What the function gives for each element, in arrays of the type that all results of a place have."""
    around = np.broadcast(*map(np.asarray, values))
    # Of no elements, the types are those that one would give.
    found = [function(*items) for items in around] or [function(*(np.asarray(value).dtype.type(1) for value in values))]
    several = isinstance(found[0], tuple)
    if numbers and not several:
        _refuse_unlike([*numbers, *(item for item in found if isinstance(item, np.generic))])
    places = zip(*found) if several else (found,)
    return tuple(np.array(place[: around.size], _type(place)).reshape(around.shape) for place in map(list, places))


def _refuse_unlike(results: list[Any]) -> None:
    """Raises ValueError where what is given back at one place has another type than at the next, as CuPy does."""
    kinds = list(dict.fromkeys(np.asarray(result).dtype for result in results))
    if len(kinds) > 1:
        raise ValueError(f"Failed to infer the return type: {kinds[0]} or {kinds[1]}")


def _numbers_given_back(function: Callable[..., Any]) -> list[Any]:
    """The numbers that stand in the source where the function gives something back; none if that is one place."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return []
    given = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return) and node.value is not None]
    numbers = []
    for value in given if len(given) > 1 else ():
        with contextlib.suppress(ValueError):
            numbers.append(ast.literal_eval(value))
    return [number for number in numbers if isinstance(number, (bool, int, float, complex))]


def _type(results: list[Any]) -> Any:
    """One type for all: a number of the source takes that of what is computed."""
    kinds = {item.dtype for item in results if isinstance(item, (np.generic, np.ndarray))}
    numbers = {type(item): item for item in results if type(item) in (bool, int, float, complex)}
    if not kinds and not numbers:
        raise TypeError(f"Unsupported type {type(results[0])}")
    return np.result_type(*kinds, *numbers.values())


#: Of how many elements the operators are counted.
_WATCHED = 8
#: What the library's own functions do is counted by their names.
_OWN = (str(Path(__file__).parent.parent), str(Path(np.__file__).parent))


class _Watched:
    """A function, and how many operators Python comes by in it for an element: loops count as often as they run."""

    def __init__(self, function: Callable[..., Any], count: int) -> None:
        self._function, self._step = function, max(1, count // _WATCHED)
        self._done = self._seen = self._counted = 0
        self._places: dict[Any, frozenset[int]] = {}

    def __call__(self, *items: Any) -> Any:
        self._done += 1
        if (self._done - 1) % self._step:
            return self._function(*items)
        self._seen += 1
        before = sys.gettrace()
        sys.settrace(self._trace)
        try:
            return self._function(*items)
        finally:
            sys.settrace(before)

    def operators(self) -> int:
        """How many an element takes."""
        return max(1, round(self._counted / max(1, self._seen)))

    def _trace(self, frame: Any, event: str, _: Any) -> Any:
        code = frame.f_code
        if code.co_filename.startswith(_OWN):
            return None
        if code not in self._places:
            self._places[code] = frozenset(
                step.offset for step in dis.get_instructions(code) if _is_operator(step.opname)
            )
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        self._counted += event == "opcode" and frame.f_lasti in self._places[code]
        return self._trace


def _is_operator(name: str) -> bool:
    return name.startswith(("BINARY_", "COMPARE_", "UNARY_", "INPLACE_")) and name not in (
        "BINARY_SUBSCR",
        "BINARY_SLICE",
    )
