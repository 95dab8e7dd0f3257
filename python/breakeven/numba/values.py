"""What a compiled function computes with, as far as it is known without running it: numbers, arrays by shape, places.

A number may have a value; a place is a number that is a sum of loop counters, each times a factor, and a constant:
`i * n + j` of known `n`. An array has its shape, its type and the memory it is a view of.
"""

from __future__ import annotations

import numpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    Value: TypeAlias = "Number | Array | Several | Thing"


class NotTold(Exception):
    """The function does what is not understood; says what."""


class Number:
    """A scalar. `value`: where it is known; `factors`: of the loop counters that it is a sum of, `value` being the rest
    then; `data`: it was computed from elements of arrays, or changes from round to round."""

    __slots__ = ("data", "dtype", "factors", "value")

    def __init__(
        self,
        dtype: numpy.dtype,
        value: int | float | complex | None = None,
        factors: Mapping[object, int] | None = None,
        data: bool = False,
    ) -> None:
        self.dtype = dtype
        self.value = value
        self.factors = factors
        self.data = data

    @property
    def known(self) -> bool:
        """Whether its value is the same whenever it is computed, and known."""
        return self.value is not None and not self.factors

    @property
    def whole(self) -> int:
        """Its value, or what is added to the loop counters, as a whole number."""
        if self.value is None or isinstance(self.value, complex):
            raise NotTold("it counts by something that is no whole number")
        return int(self.value)


class Memory:
    """What arrays are views of. `argument`: its place among the arguments, -1 for what the function itself makes."""

    __slots__ = ("argument", "bytes", "made_in", "name", "others", "read", "written")

    def __init__(self, name: str, size: int, argument: int = -1, made_in: object = None) -> None:
        self.name = name
        self.bytes = size
        self.argument = argument
        self.made_in = made_in
        self.read = False
        self.written = False
        #: What the names of its arrays stand for after other rounds: `u, v = v, u`.
        self.others: list[Memory] = []


class Array:
    """An array, or a view of one: `axes` has, for each axis of the memory, the index that is fixed there (a `Number`),
    or the axis of the view and where it starts."""

    __slots__ = ("axes", "dtype", "memory", "shape")

    def __init__(
        self,
        dtype: numpy.dtype,
        shape: tuple[int, ...],
        memory: Memory,
        axes: tuple[Number | tuple[int, int | None], ...] | None = None,
    ) -> None:
        self.dtype = dtype
        self.shape = shape
        self.memory = memory
        self.axes = axes if axes is not None else tuple((axis, 0) for axis in range(len(shape)))

    @property
    def size(self) -> int:
        n = 1
        for length in self.shape:
            n *= length
        return n


class Several:
    """A tuple or a list."""

    __slots__ = ("items",)

    def __init__(self, items: list[Value]) -> None:
        self.items = items


class Thing:
    """Any other object of Python's: a module, a function, a type, `None`; or a method of a value."""

    __slots__ = ("object", "of")

    def __init__(self, what: object, of: Value | None = None) -> None:
        self.object = what
        self.of = of


INT = numpy.dtype("int64")
FLOAT = numpy.dtype("float64")
COMPLEX = numpy.dtype("complex128")
BOOL = numpy.dtype("bool")
NONE = Thing(None)
#: Lists up to this length are looked at one by one.
_SHORT = 32


def new_array(dtype: numpy.dtype, shape: tuple[int, ...], made_in: object, name: str = "") -> Array:
    """An array that the function makes."""
    array = Array(dtype, shape, Memory(name, 0, made_in=made_in))
    array.memory.bytes = array.size * dtype.itemsize
    return array


def of_object(found: object, name: str, argument: int = -1, depth: int = 0) -> Value:
    """An argument, or what a global name stands for."""
    if isinstance(found, numpy.ndarray):
        if found.dtype.hasobject or found.dtype.fields is not None:
            raise NotTold(f"the array {name} holds records or objects")
        return Array(found.dtype, found.shape, Memory(name, found.nbytes, argument))
    if isinstance(found, (bool, numpy.bool_)):
        return Number(BOOL, bool(found))
    if isinstance(found, int):
        return Number(INT, found)
    if isinstance(found, float) and not isinstance(found, numpy.generic):
        return Number(FLOAT, found)
    if isinstance(found, complex) and not isinstance(found, numpy.generic):
        return Number(COMPLEX, found)
    if isinstance(found, (numpy.integer, numpy.floating, numpy.complexfloating)):
        return Number(found.dtype, found.item())
    if isinstance(found, list) and len(found) > _SHORT:
        return _long_list(found, name, argument)
    if isinstance(found, (tuple, list)) and depth < 3:
        return Several([of_object(item, name, argument, depth + 1) for item in found])
    if type(found).__module__ == "numba.typed.typedlist":
        return _typed_list(found, name, argument)
    return Thing(found)


def _long_list(found: list[object], name: str, argument: int) -> Value:
    """A list of numbers, as the array that Numba makes of it for the length of a call."""
    kinds = {type(item) for item in found}
    if kinds not in ({int}, {float}):
        raise NotTold(f"the list {name} holds other things than numbers of one type")
    return Array(INT if kinds == {int} else FLOAT, (len(found),), Memory(name, len(found) * 8, argument))


def _typed_list(found: object, name: str, argument: int) -> Value:
    """A list of numbers, as the array that holds them."""
    kinds = getattr(found, "_dtype", None)
    try:
        dtype = numpy.dtype(str(kinds))
    except TypeError:
        raise NotTold(f"the list {name} holds other things than numbers") from None
    length = len(found)  # type: ignore[arg-type]
    return Array(dtype, (length,), Memory(name, length * dtype.itemsize, argument))


def promoted(*values: Number | Array) -> numpy.dtype:
    """The type that Numba computes in, by NumPy's rules without values: whole numbers with `float32` are `float64`."""
    dtypes = [value.dtype for value in values]
    found = dtypes[0]
    for dtype in dtypes[1:]:
        found = numpy.promote_types(found, dtype)
    return found


def real(dtype: numpy.dtype) -> numpy.dtype:
    """The type of the parts of a complex number; of others their own."""
    parts: dict[str, numpy.dtype] = {"complex64": numpy.dtype("float32"), "complex128": FLOAT}
    part: numpy.dtype = parts.get(str(dtype.name), dtype)
    return part


def added(left: Number, right: Number, sign: int) -> Mapping[object, int] | None:
    """The factors of a sum of places."""
    if not left.factors and not right.factors:
        return None
    factors = dict(left.factors or {})
    for loop, factor in (right.factors or {}).items():
        factors[loop] = factors.get(loop, 0) + sign * factor
    return {loop: factor for loop, factor in factors.items() if factor} or None


def scaled(place: Number, times: int) -> Mapping[object, int] | None:
    """The factors of a place times a known number."""
    return {loop: factor * times for loop, factor in (place.factors or {}).items()} if times else None
