"""Functions that compiled code calls: NumPy's, those of `math`, Python's own, others that Numba compiles."""

from __future__ import annotations

import builtins

import numpy

from . import functions
from .array_functions import array_function
from .linear import factored, random
from .values import COMPLEX, FLOAT, INT, Array, NotTold, Number, Several, Thing, promoted, real

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .values import Value
    from .walk import Walk


def call(walk: Walk, callee: Thing, given: list[Value], words: dict[str, Value]) -> Value:
    """The result of a call of a function of Python's or NumPy's by its name, or of an array's method."""
    found = callee.object
    if isinstance(found, str):
        assert callee.of is not None
        return method(walk, callee.of, found, given, words)
    name = getattr(found, "__name__", "")
    module = str(getattr(found, "__module__", "") or type(found).__module__)
    if isinstance(found, type) and (issubclass(found, numpy.generic) or found in (int, float, complex, bool)):
        return _converted(walk, numpy.dtype(found), given)
    if is_random(found):
        return random(walk, name, given, words)
    if "linalg" in module and name in functions.FACTORS:
        return factored(walk, name, given)
    if getattr(builtins, name, None) is found:
        return _builtin(walk, name, given)
    if module.split(".")[0] in ("math", "cmath", "numpy"):
        return _numpy(walk, name, given, words)
    raise NotTold(f"it calls {name or 'something'}, which breakeven does not know")


def is_random(found: object) -> bool:
    """Whether it is a function that draws random numbers, or sets their state."""
    module = str(getattr(found, "__module__", ""))
    of = type(getattr(found, "__self__", None)).__module__
    return "random" in module.split(".") or of.startswith(("numpy.random.", "random"))


def _builtin(walk: Walk, name: str, given: list[Value]) -> Value:
    if name == "len" and given:
        if isinstance(given[0], Array):
            return Number(INT, given[0].shape[0] if given[0].shape else 0)
        if isinstance(given[0], Several):
            return Number(INT, len(given[0].items))
    if name in ("min", "max") and given and all(isinstance(value, Number) for value in given):
        return _extreme(walk, name, [value for value in given if isinstance(value, Number)])
    if name in ("abs", "round", "divmod", "pow"):
        return _numpy(walk, name, given, {})
    if name in ("tuple", "list"):
        return given[0] if given else Several([])
    if name == "print":
        raise NotTold("it prints")
    raise NotTold(f"it calls {name}, which breakeven does not know")


def _extreme(walk: Walk, name: str, given: list[Number]) -> Value:
    dtype = promoted(*given)
    if all(value.known for value in given):
        return Number(dtype, getattr(builtins, name)(value.value for value in given))
    data = any(value.data for value in given)
    if data or dtype.kind == "f":
        walk.cost({"one": len(given) - 1}, dtype)
    return Number(dtype, None, None, data)


def _converted(walk: Walk, dtype: numpy.dtype, given: list[Value]) -> Value:
    if not given:
        return Number(dtype, 0)
    value = given[0]
    if isinstance(value, Array):
        return walk.elementwise([value], {}, dtype)
    if not isinstance(value, Number):
        raise NotTold("it converts something that is no number")
    if len(given) == 2:
        return Number(COMPLEX, None, None, True)
    if value.known and not isinstance(value.value, complex):
        return Number(dtype, dtype.type(value.value).item(), None, value.data)
    keeps = dtype.kind in "iu" and value.dtype.kind in "iu"
    return Number(dtype, value.value if keeps else None, value.factors if keeps else None, value.data)


def _numpy(walk: Walk, name: str, given: list[Value], words: Mapping[str, Value]) -> Value:
    if name in functions.ELEMENTS and all(isinstance(value, Number) for value in given):
        numbers = [value for value in given if isinstance(value, Number)]
        dtype = promoted(*numbers)
        floats = dtype.kind in "fc" or name not in ("abs", "max", "min", "sign", "pow", "power", "round", "add")
        if dtype.kind in "biu" and floats:
            dtype = FLOAT
        cost = functions.ELEMENTS[name]
        if cost.keys() == {"power"} and len(numbers) == 2 and not numbers[1].factors:
            cost = functions.power(numbers[1].value)
        walk.cost(cost, dtype, name)
        if name in ("abs", "absolute") and dtype.kind == "c":
            dtype = real(dtype)
        return Number(dtype, None, None, True)
    return array_function(walk, name, given, words)


def method(walk: Walk, of: Value, name: str, given: list[Value], words: Mapping[str, Value]) -> Value:
    """A method of an array, a list or a number."""
    if isinstance(of, Array) and name in ("append", "insert", "pop", "extend", "remove"):
        raise NotTold("it changes the length of a list")
    if isinstance(of, Array):
        return array_function(walk, name, [of, *given], words)
    if isinstance(of, Number) and name in ("conjugate", "item"):
        return of
    if isinstance(of, Several) and name == "append":
        raise NotTold("it appends to a list")
    raise NotTold(f"it calls the method {name}")
