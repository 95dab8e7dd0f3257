"""What tensors without values answer where a script asks whether a number is out of the ordinary: it is not.

`isnan`, `isinf`, `x != x`, comparisons with infinity or huge numbers, and what is made of their results are followed
as one value: that of numbers which are neither NaN nor infinite. A number that is asked for (`token == end`, `isin`)
is not the one that there is; of several some are and some are not, so that a text does not end before its time, and
each expert gets tokens. Matrices that are factorised can be.
"""

from __future__ import annotations

import operator

from . import known_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


#: The value of elements of which some are true and some are not.
SOME = object()
#: Why a value is told that is not known: numbers are neither NaN nor infinite; one is not another; a matrix has its
#: factors.
ANOTHER, SOUND = "whether a number is a certain one", "whether a number is NaN or infinite, or huge"
REGULAR = "whether a matrix can be factorised"
#: What is taken for each of these.
TAKEN = {ANOTHER: "that it is not", SOUND: "that it is neither", REGULAR: "that it can"}

#: A floating-point number from which on others are no more likely to be than infinity.
_HUGE = 1e6

_COMPARE: dict[str, Any] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
_COMBINE: dict[str, Any] = {
    **_COMPARE, "logical_or": operator.or_, "bitwise_or": operator.or_, "logical_and": operator.and_,
    "bitwise_and": operator.and_, "mul": operator.mul, "add": operator.add, "logical_xor": operator.xor,
    "bitwise_xor": operator.xor, "maximum": max, "minimum": min,
}  # fmt: skip
#: What gives nothing whatever it is combined with, and what gives all.
_NEEDS_BOTH = ("logical_and", "bitwise_and", "mul")
_NEEDS_ONE = ("logical_or", "bitwise_or")
_OPPOSITE = ("logical_not", "bitwise_not")
#: What gives one of the values that it is given; a sum does so of zeros.
_SAME = frozenset(
    "any all amax amin max min sum mean clone detach view _unsafe_view reshape expand select slice index _to_copy "
    "alias "
    "squeeze unsqueeze lift_fresh stack cat _is_any_true _is_all_true".split()
)
#: What gives the least of several, and what one of them decides.
_LEAST = ("all", "_is_all_true", "amin", "min")
_ONE_OF = ("any", "_is_any_true", "amax", "max", "sum", "mean", "select")


def follow(func: Any, args: tuple[Any, ...], result: Any) -> None:
    """An op without values has given `result`: is its value known all the same?"""
    if isinstance(result, tuple):
        for returned, part in zip(func._schema.returns, result):
            if returned.name == "info" and known_values.known(part) is None:
                part.ordinary, part.why = 0, REGULAR
        return
    if known_values.known(result) is not None:
        return
    name = func._schema.name.partition("::")[2]
    value: Any = None
    why = _why(args)
    if name in ("isnan", "isinf", "isposinf", "isneginf"):
        value, why = False, SOUND
    elif name in _COMPARE and len(args) > 1 and answer(args[0]) is None:
        value, why = _compared(name, args[0], args[1]), SOUND
        if value is None and name in ("eq", "ne") and _is_one(args[1]):
            value, why = SOME if result.numel() > 1 else name == "ne", ANOTHER
    elif name == "isin" and len(args) > 1:
        value, why = SOME if result.numel() > 1 else False, ANOTHER
    elif name in _COMBINE and len(args) > 1:
        decides = _decides(name, args[:2])
        value = _combined(name, answer(args[0]), answer(args[1])) if decides is None else answer(decides)
        why = why if decides is None else _why((decides,))
    elif name in _OPPOSITE:
        value = _not(answer(args[0]))
    elif name in _SAME:
        value = _reduced(name, answer(args[0]))
    if value is not None:
        result.ordinary, result.why = value, why
    elif (count := _count(name, args, result)) is not None:
        result.count = count


def _why(args: tuple[Any, ...]) -> str:
    """Why the value of what is made of these is the one that is told."""
    reasons = [getattr(part, "why", "") for arg in args for part in (arg if isinstance(arg, (list, tuple)) else (arg,))]
    return max(reasons, default="")


def _count(name: str, args: tuple[Any, ...], result: Any) -> int | None:
    """How many elements were counted, of which it is not known whether they are true: as many as there can be. What is
    added to that is so, too."""
    given: Any = args[0] if args else None
    if name in ("sum", "count_nonzero") and str(getattr(given, "dtype", "")) == "torch.bool":
        return int(given.numel() // max(result.numel(), 1))
    count: int | None = getattr(given, "count", None)
    if count is None or not isinstance(count, int):
        return None
    if name == "add" and len(args) > 1:
        return count + args[1] if isinstance(args[1], int) else None
    return count if name in _SAME and name not in ("sum", "mean") else None


def answer(value: Any) -> Any:
    """The value of a tensor that was followed or whose elements are known and alike, of several alike, or of a
    number; None where it is not known."""
    if isinstance(value, (list, tuple)):
        several = {answer(part) for part in value}
        return several.pop() if len(several) == 1 else None
    if isinstance(value, (bool, int, float)):
        return value
    if (found := getattr(value, "ordinary", None)) is not None:
        return found
    return _alike(value) if hasattr(value, "is_floating_point") and not value.is_floating_point() else None


def _alike(tensor: Any) -> Any:
    known = known_values.known(tensor)
    if known is None or known.is_meta or not known.numel():
        return None
    return known_values.call(lambda: known.flatten()[0].item() if (known == known.flatten()[0]).all() else None)


def _is_one(value: Any) -> bool:
    """Whether this is a number that the script knows."""
    if isinstance(value, (int, float)):
        return True
    return getattr(value, "ndim", 1) == 0 and known_values.known(value) is not None


def _decides(name: str, args: tuple[Any, ...]) -> Any:
    """The one of two that decides whatever the other may be."""
    if name not in (*_NEEDS_BOTH, *_NEEDS_ONE):
        return None
    values = [(arg, answer(arg)) for arg in args]
    known = [(arg, value) for arg, value in values if value is not None and value is not SOME]
    return next((arg for arg, value in known if bool(value) == (name in _NEEDS_ONE)), None)


def _combined(name: str, one: Any, other: Any) -> Any:
    if one is None or other is None:
        return None
    if one is SOME or other is SOME:
        return SOME if name in (*_NEEDS_BOTH, *_NEEDS_ONE) else None
    return _COMBINE[name](one, other)


def _not(value: Any) -> Any:
    return value if value is None or value is SOME else not value


def _reduced(name: str, value: Any) -> Any:
    if value is SOME:
        return False if name in _LEAST else None if name in _ONE_OF else SOME
    return None if name == "sum" and value else value


def _compared(name: str, one: Any, other: Any) -> Any:
    """A tensor compared with itself, with infinity, or with what is as good as that."""
    if one is other:
        return _COMPARE[name](0, 0)
    number = other.constant if getattr(other, "constant", None) is not None else other
    if getattr(number, "ndim", 1) == 0:
        known = known_values.known(number)
        number = None if known is None else known_values.call(known.item)
    huge = isinstance(number, (int, float)) and one.is_floating_point() and abs(number) >= _HUGE
    return _COMPARE[name](0.0, number) if huge else None
