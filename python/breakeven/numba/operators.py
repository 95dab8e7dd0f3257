"""Operators: what they give and what they cost, of numbers and of arrays."""

from __future__ import annotations

import ast
import operator

import numpy

from .functions import power
from .linear import product
from .values import BOOL, FLOAT, INT, Array, NotTold, Number, Several, Thing, added, promoted, scaled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .values import Value
    from .walk import Walk

_NAMES: Mapping[type, tuple[str, Mapping[str, float], Callable[[Any, Any], Any]]] = {
    ast.Add: ("add", {"one": 1}, operator.add),
    ast.Sub: ("add", {"one": 1}, operator.sub),
    ast.Mult: ("multiply", {"one": 1}, operator.mul),
    ast.Div: ("divide", {"divide": 1}, operator.truediv),
    ast.FloorDiv: ("floor_divide", {"floor_divide": 1}, operator.floordiv),
    ast.Mod: ("remainder", {"remainder": 1}, operator.mod),
    ast.Pow: ("power", {"power": 1}, operator.pow),
    ast.BitAnd: ("one", {"one": 1}, operator.and_),
    ast.BitOr: ("one", {"one": 1}, operator.or_),
    ast.BitXor: ("one", {"one": 1}, operator.xor),
    ast.LShift: ("one", {"one": 1}, operator.lshift),
    ast.RShift: ("one", {"one": 1}, operator.rshift),
}
_COMPARED: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
#: Whole numbers are divided without a fraction by a few operations.
_OF_INTEGERS = {"floor_divide": {"floor_divide": 1}, "remainder": {"remainder": 1}}


def binary(walk: Walk, kind: type, left: Value, right: Value) -> Value:
    """`left + right` and its kind."""
    if kind is ast.MatMult:
        return product(walk, left, right)
    if isinstance(left, Several) and isinstance(right, Several) and kind is ast.Add:
        return Several(left.items + right.items)
    if isinstance(left, Several) and isinstance(right, Number) and kind is ast.Mult and right.known:
        return Several(left.items * right.whole)
    name, cost, compute = _NAMES[kind]
    if isinstance(left, (Several, Thing)) or isinstance(right, (Several, Thing)):
        raise NotTold(f"it has an operator ({name}) on something that is no number")
    dtype = _result(kind, left, right)
    if kind is ast.Pow and isinstance(right, Number) and not right.factors:
        cost = power(right.value)
    if isinstance(left, Array) or isinstance(right, Array):
        arrays = [value for value in (left, right) if isinstance(value, Array)]
        return walk.elementwise(arrays, cost, dtype)
    place = _place(kind, left, right, dtype, compute)
    data = left.data or right.data or dtype.kind in "fc"
    if data and not (left.known and right.known and not (left.data or right.data)):
        walk.cost(cost, dtype, name)
    return place if place is not None else Number(dtype, None, None, data)


def _result(kind: type, left: Number | Array, right: Number | Array) -> numpy.dtype:
    dtype = promoted(left, right)
    if kind is ast.Div and dtype.kind in "biu":
        return FLOAT
    if dtype.kind == "b" and kind in (ast.Add, ast.Sub, ast.Mult, ast.Pow, ast.FloorDiv, ast.Mod):
        return INT
    whole = kind is ast.Pow and isinstance(right, Number) and right.dtype.kind in "iu"
    return left.dtype if whole and left.dtype.kind in "fc" else dtype


def _place(
    kind: type, left: Number, right: Number, dtype: numpy.dtype, compute: Callable[[Any, Any], Any]
) -> Number | None:
    """The result where it is known, or is a sum of loop counters."""
    if left.value is None or right.value is None:
        return None
    data = left.data or right.data
    if left.known and right.known:
        try:
            return Number(dtype, compute(left.value, right.value), None, data)
        except (ArithmeticError, ValueError, TypeError):
            return None
    if dtype.kind not in "iu":
        return None
    if kind in (ast.Add, ast.Sub):
        sign = 1 if kind is ast.Add else -1
        return Number(dtype, compute(left.value, right.value), added(left, right, sign), data)
    if kind is ast.Mult and (left.known or right.known):
        known, place = (left, right) if left.known else (right, left)
        times = known.whole
        return Number(dtype, compute(left.value, right.value), scaled(place, times), data)
    return None


def compare(walk: Walk, kind: type, left: Value, right: Value) -> Value:
    """`left < right` and its kind."""
    if kind in (ast.Is, ast.IsNot):
        same = isinstance(left, Thing) and isinstance(right, Thing) and left.object is right.object
        return Number(BOOL, same is (kind is ast.Is))
    if isinstance(left, (Several, Thing)) or isinstance(right, (Several, Thing)):
        if isinstance(left, Thing) and isinstance(right, Thing) and kind in (ast.Eq, ast.NotEq):
            return Number(BOOL, (left.object == right.object) is (kind is ast.Eq))
        raise NotTold("it compares something that is no number")
    if isinstance(left, Array) or isinstance(right, Array):
        arrays = [value for value in (left, right) if isinstance(value, Array)]
        return walk.elementwise(arrays, {"one": 1}, BOOL)
    if left.known and right.known and kind in _COMPARED:
        return Number(BOOL, bool(_COMPARED[kind](left.value, right.value)), None, left.data or right.data)
    dtype = promoted(left, right)
    if left.data or right.data or dtype.kind in "fc":
        walk.cost({"one": 1}, dtype)
    return Number(BOOL, None, None, left.data or right.data)


def unary(walk: Walk, kind: type, value: Value) -> Value:
    """`-x`, `not x`, `~x`: signs cost nothing of their own."""
    if isinstance(value, Array):
        return walk.elementwise([value], {"one": 1}, value.dtype)
    if not isinstance(value, Number):
        raise NotTold("it has an operator on something that is no number")
    if kind is ast.UAdd:
        return value
    if kind is ast.USub:
        negative = None if value.value is None else -value.value
        return Number(value.dtype, negative, scaled(value, -1), value.data)
    if kind is ast.Not:
        return Number(BOOL, not value.value if value.known else None, None, value.data)
    if value.data:
        walk.cost({"one": 1}, value.dtype)
    return Number(value.dtype, ~value.whole if value.known else None, None, value.data)
