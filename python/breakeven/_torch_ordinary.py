"""What tensors without values answer where a script asks whether a number is out of the ordinary: it is not.

`isnan`, `isinf`, `x != x`, comparisons with infinity, and what is made of their results are followed as one value: that of
numbers which are neither NaN nor infinite.
"""

from __future__ import annotations

import math
import operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_COMPARE: dict[str, Any] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
_COMBINE: dict[str, Any] = {
    **_COMPARE, "logical_or": operator.or_, "bitwise_or": operator.or_, "logical_and": operator.and_,
    "bitwise_and": operator.and_, "mul": operator.mul, "add": operator.add, "logical_xor": operator.xor,
    "bitwise_xor": operator.xor, "maximum": max, "minimum": min,
}  # fmt: skip
_OPPOSITE = ("logical_not", "bitwise_not")
#: What gives one of the values that it is given; a sum does so of zeros.
_SAME = frozenset(
    "any all amax amin max min sum mean clone detach view _unsafe_view reshape expand select slice index _to_copy alias "
    "squeeze unsqueeze lift_fresh stack cat _is_any_true _is_all_true".split()
)


def follow(func: Any, args: tuple[Any, ...], result: Any) -> None:
    """An op without values has given `result`: is its value known all the same?"""
    name = func._schema.name.partition("::")[2]
    value = None
    if name in ("isnan", "isinf", "isposinf", "isneginf"):
        value = False
    elif name in _COMPARE and len(args) > 1 and answer(args[0]) is None:
        value = _compared(name, args[0], args[1])
    elif name in _COMBINE or name in _OPPOSITE or name in _SAME:
        known = [answer(arg) for arg in args[: 2 if name in _COMBINE else 1]]
        if None not in known:
            value = not known[0] if name in _OPPOSITE else _COMBINE[name](*known) if name in _COMBINE else known[0]
            if name == "sum" and value:
                value = None
    if value is not None:
        result.ordinary = value


def answer(value: Any) -> Any:
    """The value of a tensor that was followed, of several alike, or of a number; None where it is not known."""
    if isinstance(value, (list, tuple)):
        several = {answer(part) for part in value}
        return several.pop() if len(several) == 1 else None
    return value if isinstance(value, (bool, int, float)) else getattr(value, "ordinary", None)


def _compared(name: str, one: Any, other: Any) -> Any:
    """A tensor compared with itself, or with infinity."""
    if one is other:
        return _COMPARE[name](0, 0)
    number = other.constant if getattr(other, "constant", None) is not None else other
    if getattr(number, "ndim", 1) == 0:
        number = number.item()
    return _COMPARE[name](0.0, number) if isinstance(number, float) and math.isinf(number) else None
