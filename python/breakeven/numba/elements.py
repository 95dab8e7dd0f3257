"""Element-wise functions (`@vectorize`, `@guvectorize`, `@stencil`) as the loop that Numba makes around their body."""

from __future__ import annotations

import ast
import types

import numba
import numpy

from .source import Source, remember
from .values import NotTold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_INNER = "inner"


class Around(Source):
    """A loop around a compiled function, as if it had been written."""

    def __init__(self, name: str, text: str, inner: object, line: int) -> None:
        names: dict[str, object] = {_INNER: inner, "prange": numba.prange}
        exec(compile(text, f"<loop of {name}>", "exec"), names)
        function = names["loop"]
        assert isinstance(function, types.FunctionType)
        self.function = function
        self.name = name
        tree = ast.parse(text).body[0]
        assert isinstance(tree, ast.FunctionDef)
        ast.increment_lineno(tree, line - 1)
        self.tree = tree
        self.tree.name = "loop"
        self.cells = {}


class _Inner:
    """The function behind a generalised one, or a stencil."""

    def __init__(self, function: object) -> None:
        self.py_func = function


_inner: dict[object, _Inner] = {}


def inner_of(function: object) -> _Inner:
    """A function of Python's as what holds it in Numba."""
    return _inner.setdefault(function, _Inner(function))


_MADE: dict[tuple[object, ...], Around] = {}


def around(inner: Any, text: str, shape: object) -> Around:
    """The loop around a function, once for each form of it."""
    key = (inner, text, shape)
    if key not in _MADE:
        function = inner.py_func
        _MADE[key] = Around(function.__name__, text, inner, function.__code__.co_firstlineno)
    return _MADE[key]


def of_elements(inner: Any, given: Sequence[object]) -> tuple[Around, list[object]]:
    """`@vectorize`: the function of each element of the broadcast arguments; and what the loop takes."""
    arrays = [item for item in given if isinstance(item, (numpy.ndarray, list))]
    if not arrays:
        raise NotTold("it is called with single numbers")
    made = [numpy.asarray(item) if isinstance(item, list) else item for item in given]
    shape = numpy.broadcast_shapes(*(item.shape for item in made if isinstance(item, numpy.ndarray)))
    n = int(numpy.prod(shape, dtype=numpy.int64))
    names = [f"a{place}" for place in range(len(made))]
    items = [f"{name}[i]" if isinstance(item, numpy.ndarray) else name for name, item in zip(names, made)]
    flat = [numpy.broadcast_to(item, shape).reshape(-1) if isinstance(item, numpy.ndarray) else item for item in made]
    text = (
        f"def loop({', '.join([*names, 'out', 'n'])}):\n"
        "    for i in prange(n):\n"
        f"        out[i] = {_INNER}({', '.join(items)})\n"
    )
    return around(inner, text, None), [*flat, numpy.empty(n), n]


def of_rows(
    inner: Any, axes: Sequence[Sequence[str]], read: Sequence[Sequence[str]], given: Sequence[object]
) -> tuple[Around, list[object]]:
    """`@guvectorize`: the function of each row of the broadcast arguments; `axes`: the names of the axes of a row,
    `read`: of those that are read. Results that were not given are made."""
    arrays = [numpy.asarray(item) for item in given]
    lengths: dict[str, int] = {}
    for names, array in zip(axes, arrays):
        lengths.update(zip(names, array.shape[array.ndim - len(names) :]))
    shape = numpy.broadcast_shapes(*(array.shape[: array.ndim - len(names)] for names, array in zip(axes, arrays)))
    for names in axes[len(arrays) :]:
        if not all(name in lengths for name in names):
            raise NotTold("the length of its result is not known")
        arrays.append(numpy.empty((*shape, *(lengths[name] for name in names))))
    n = int(numpy.prod(shape, dtype=numpy.int64))
    taken: list[object] = []
    items = []
    for place, (names, array) in enumerate(zip(axes, arrays)):
        inside = array.shape[array.ndim - len(names) :]
        if not names and place < len(read) and array.ndim == 0:
            taken.append(array.item())
            items.append(f"a{place}")
        else:
            # A result of no axis is handed on as an array of one.
            alone = () if names or place < len(read) else (1,)
            taken.append(numpy.broadcast_to(array, (*shape, *inside)).reshape(n, *inside, *alone))
            items.append(f"a{place}[i]")
    text = (
        f"def loop({', '.join([*(f'a{place}' for place in range(len(taken))), 'n'])}):\n"
        "    for i in prange(n):\n"
        f"        {_INNER}({', '.join(items)})\n"
    )
    return around(inner, text, tuple(map(tuple, axes))), [*taken, n]


def of_places(inner: Any, given: Sequence[object]) -> tuple[Around, list[object]]:
    """`@stencil`: the function of each place of the first array, which it indexes relative to that."""
    first = given[0]
    if not isinstance(first, numpy.ndarray):
        raise NotTold("a stencil is given no array")
    return places(inner, len(given)), [*given, numpy.empty(first.size, first.dtype), first.size]


def places(inner: Any, count: int) -> Around:
    """The loop of a stencil of so many arguments over the places of its first; it takes the result and its length."""
    names = [f"a{place}" for place in range(count)]
    text = (
        f"def loop({', '.join([*names, 'out', 'n'])}):\n"
        "    for i in prange(n):\n"
        f"        out[i] = {_INNER}({', '.join(names)})\n"
    )
    made = around(inner, text, "places")
    remember(made.function, made)
    return made
