"""NumPy's functions of whole arrays, and methods of arrays, as compiled code calls them."""

from __future__ import annotations

import numpy

from . import functions
from .indexing import reshaped
from .linear import product, random, shape_of
from .values import FLOAT, INT, NONE, Array, NotTold, Number, Several, Thing, promoted, real
from .walk import mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .values import Value
    from .walk import Walk


def array_function(walk: Walk, name: str, given: list[Value], words: Mapping[str, Value]) -> Value:
    """The result of NumPy's function of this name."""
    if name in functions.FILLS:
        return _filled(walk, name, shape_of(given[0]), _dtype(given[1:], words, FLOAT))
    first = given[0] if given else NONE
    if name in functions.LIKE and isinstance(first, Array):
        return _filled(walk, name.removesuffix("_like"), first.shape, _dtype(given[1:], words, first.dtype))
    if name in ("arange", "linspace", "eye", "identity"):
        return _spread(walk, name, given, words)
    if name in ("dot", "matmul", "vdot") and len(given) == 2:
        return product(walk, first, given[1])
    if name == "outer" and len(given) == 2 and isinstance(given[1], Array) and isinstance(first, Array):
        made = walk.made(promoted(first, given[1]), (first.size, given[1].size))
        walk.array_op(_map(made.size, 2, 1.0), made.dtype, [first, given[1]], made, {"one": 1}, made.size)
        return made
    arrays = [value for value in given if isinstance(value, Array)]
    if not arrays:
        if name == "fill" or not given:
            return NONE
        raise NotTold(f"it calls {name}, which breakeven does not know")
    if name in functions.FOLDS or name in functions.RUNNING:
        return _folded(walk, name, given, words)
    if name in functions.ELEMENTS:
        return _mapped(walk, name, given, arrays)
    return _moved(walk, name, arrays[0], given, words)


def _map(n: int, inputs: int, flop: float) -> dict[str, object]:
    return {"elementwise": {"n": n, "inputs": inputs, "flop_per_element": flop}}


def _dtype(given: list[Value], words: Mapping[str, Value], usual: numpy.dtype) -> numpy.dtype:
    named = words.get("dtype")
    for value in [named, *reversed(given)]:
        if isinstance(value, Thing) and value.object is not None:
            try:
                found: numpy.dtype = numpy.dtype(str(getattr(value.object, "name", "") or _name(value.object)))
                return found
            except TypeError:
                continue
    return usual


def _name(found: object) -> str:
    return str(getattr(found, "__name__", found))


def _filled(walk: Walk, name: str, shape: tuple[int, ...], dtype: numpy.dtype) -> Array:
    made = walk.made(dtype, shape)
    if name != "empty":
        walk.array_op({"copy": {"n": made.size, "strided": True}}, dtype, [], made, n=made.size)
    return made


def _spread(walk: Walk, name: str, given: list[Value], words: Mapping[str, Value]) -> Array:
    numbers = [value for value in given if isinstance(value, Number)]
    dtype = _dtype([], words, FLOAT if name != "arange" else promoted(*numbers))
    if name == "arange":
        if not all(number.known for number in numbers):
            raise NotTold("the length of an array depends on data")
        length = max(len(numpy.arange(*(number.value for number in numbers))), 0)  # type: ignore[arg-type]
        shape: tuple[int, ...] = (length,)
    elif name == "linspace":
        last = words.get("num", numbers[2] if len(numbers) > 2 else Number(INT, 50))
        shape = shape_of(last)
    else:
        shape = shape_of(numbers[0]) * 2
    made = walk.made(dtype, shape)
    walk.array_op({"copy": {"n": made.size, "strided": True}}, dtype, [], made, n=made.size)
    return made


def _mapped(walk: Walk, name: str, given: list[Value], arrays: list[Array]) -> Array:
    cost = functions.ELEMENTS[name]
    if cost.keys() == {"power"} and isinstance(given[1], Number):
        cost = functions.power(given[1].value)
    numbers = [value for value in given if isinstance(value, (Array, Number))]
    dtype = promoted(*numbers)
    if name in ("where",):
        dtype = promoted(*numbers[1:]) if len(numbers) > 1 else INT
    elif name.startswith(("is", "logical", "equal", "not_", "less", "greater")):
        dtype = numpy.dtype(bool)
    elif dtype.kind in "biu" and not ({"one", "clip"} & cost.keys() and "divide" not in name):
        dtype = FLOAT
    if name in ("abs", "absolute") and dtype.kind == "c":
        dtype = real(dtype)
    return walk.elementwise(arrays, cost, dtype)


def _folded(walk: Walk, name: str, given: list[Value], words: Mapping[str, Value]) -> Value:
    array = given[0]
    if not isinstance(array, Array):
        raise NotTold(f"it calls {name} of something that is no array")
    axis = words.get("axis", given[1] if len(given) > 1 else NONE)
    dtype = FLOAT if name in ("mean", "var", "std", "nanmean") and array.dtype.kind in "biu" else array.dtype
    dtype = INT if name.startswith("arg") or name == "count_nonzero" else dtype
    if name in functions.RUNNING:
        made = walk.made(dtype, array.shape)
        op: dict[str, object] = {"scan": {"rows": 1, "width": array.size}}
        walk.array_op(op, dtype, [array], made, {"one": 1}, array.size)
        return made
    cost = functions.FOLDS[name]
    shape: tuple[int, ...] = ()
    if isinstance(axis, Number) and axis.known and array.shape:
        place = axis.whole % len(array.shape)
        shape = array.shape[:place] + array.shape[place + 1 :]
    result = walk.made(dtype, shape) if shape else None
    out = result.size if result is not None else 1
    op = {"reduce": {"n": array.size, "out": out, "flop_per_element": cost["one"]}}
    walk.array_op(op, array.dtype, [array], result, cost, array.size)
    return result if result is not None else walk.number(dtype)


def _moved(walk: Walk, name: str, array: Array, given: list[Value], words: Mapping[str, Value]) -> Value:
    """Copies, views, orders, and what is left."""
    n, dtype = array.size, array.dtype
    if name == "fill":
        walk.array_op({"copy": {"n": n, "strided": True}}, dtype, [], array, n=n)
        walk.whole(array, True)
        return NONE
    if name == "astype":
        return walk.elementwise([array], {}, _dtype(given[1:], words, dtype))
    if name in functions.COPIES:
        made = walk.made(dtype, array.shape)
        walk.array_op({"copy": {"n": n}}, dtype, [array], made, n=n)
        return made
    if name in ("sort", "argsort", "unique", "median", "percentile", "quantile", "partition", "searchsorted"):
        return _ordered(walk, name, array, given)
    if name in ("reshape", "ravel", "flatten"):
        return _in_shape(walk, name, array, given)
    if name in ("transpose", "T", "swapaxes"):
        return Array(dtype, array.shape[::-1], array.memory, ())
    if name in ("concatenate", "vstack", "hstack", "stack"):
        arrays = [value for value in given if isinstance(value, Array)]
        made = walk.made(dtype, (sum(value.size for value in arrays),))
        walk.array_op({"copy": {"n": made.size, "strided": True}}, dtype, arrays, made, n=made.size)
        return made
    if name in ("diff", "ediff1d"):
        made = walk.made(dtype, (max(n - 1, 0),))
        walk.array_op(_map(n, 2, 1.0), dtype, [array], made, {"one": 1}, n)
        return made
    if name in functions.VIEWS:
        return Array(dtype, array.shape, array.memory, ())
    if name == "item":
        return walk.number(dtype)
    if name in ("random", "normal", "rand"):
        return random(walk, name, given, words)
    raise NotTold(f"it calls {name}, which breakeven does not know")


def _ordered(walk: Walk, name: str, array: Array, given: list[Value]) -> Value:
    kinds = {"argsort": "argsort", "unique": "unique", "partition": "partition", "searchsorted": "search_sorted"}
    keys = given[1] if name == "searchsorted" and len(given) > 1 else None
    rows = keys.size if isinstance(keys, Array) else 1
    width = array.size if name == "searchsorted" else array.size
    op: dict[str, object] = {"sort": {"kind": kinds.get(name, "sort"), "rows": rows, "width": width}}
    flop = rows * max(width, 2).bit_length() * (1 if name == "searchsorted" else width)
    if name == "searchsorted" and not isinstance(keys, Array):
        walk.cost({"one": max(width, 2).bit_length()}, INT)
        return walk.number(INT)
    single = name in ("median", "percentile", "quantile")
    dtype = INT if name in ("argsort", "searchsorted") else array.dtype
    shape = keys.shape if isinstance(keys, Array) else array.shape
    made = None if single else walk.made(dtype, shape)
    walk.array_op(op, array.dtype, [array], made, flop=float(flop))
    return walk.number(array.dtype) if made is None else made


def _in_shape(walk: Walk, name: str, array: Array, given: list[Value]) -> Value:
    if name != "reshape":
        flat = Array(array.dtype, (array.size,), array.memory, () if len(array.shape) != 1 else array.axes)
        if name == "flatten":
            made = walk.made(array.dtype, flat.shape)
            walk.array_op({"copy": {"n": array.size}}, array.dtype, [array], made, n=array.size)
            return made
        return flat
    items = given[1:]
    if len(items) == 1 and isinstance(items[0], Several):
        items = items[0].items
    lengths = [mean(item) if isinstance(item, Number) else None for item in items]
    if any(length is None for length in lengths):
        raise NotTold("the shape of an array depends on data")
    shape = [int(length) for length in lengths if length is not None]
    known = 1
    for length in shape:
        known *= length if length >= 0 else 1
    return reshaped(array, tuple(length if length >= 0 else array.size // max(known, 1) for length in shape))
