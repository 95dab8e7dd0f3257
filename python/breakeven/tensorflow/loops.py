"""How often a loop of a graph runs, where the graph fixes it: counters that are compared with a number that stays."""

from __future__ import annotations

import operator

from . import functions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: A loop longer than this is taken as not fixed.
_LONGEST = 1 << 40
#: Loops whose limits are rounds of other loops are followed so far.
_DEEPEST = 8
#: What becomes of two whole numbers on their way to a limit: that of `tf.range` divides, and rounds up.
_COMPUTED: dict[str, Callable[[int, int], int]] = {
    "Maximum": max,
    "Minimum": min,
    "Sub": operator.sub,
    "AddV2": operator.add,
    "FloorDiv": operator.floordiv,
    "FloorMod": operator.mod,
    "NotEqual": operator.ne,
}
#: Whole numbers that the call at work is given, by the graph of its function and the tensor's name.
given: dict[tuple[int, str], int] = {}


def numbers(graph: Any, args: tuple[Any, ...]) -> dict[tuple[int, str], int]:
    """The whole numbers among the arguments of a call: `tf.range(n)` runs as often as one of them says."""
    found = {}
    for symbol, actual in zip(graph.inputs, args):
        if symbol.dtype.is_integer and symbol.shape.rank == 0 and hasattr(actual, "_numpy_internal"):
            found[id(graph), symbol.name] = int(actual._numpy_internal())
    return found


def rounds(op: Any, depth: int = 0) -> int | None:
    """Rounds of a `While` operation: the fewest that one of its conditions `counter < limit` allows; None where one of
    them is not fixed, for it may end the loop before."""
    condition, body = functions.called(op, "cond"), functions.called(op, "body")
    if condition is None or body is None or depth > _DEEPEST:
        return None
    found = [_counted(op, condition, body, end, depth) for end in _ends(condition.outputs[0])]
    counts = [count for count in found if count is not None]
    return min(counts) if counts and len(counts) == len(found) else None


def _ends(tensor: Any) -> list[Any]:
    """Comparisons that must all hold for the loop to go on."""
    op = tensor.op
    if op.type in ("Identity", "Squeeze", "Cast"):
        return _ends(op.inputs[0])
    if op.type == "LogicalAnd":
        return [end for part in op.inputs for end in _ends(part)]
    return [op]


def _counted(op: Any, condition: Any, body: Any, end: Any, depth: int) -> int | None:
    """Rounds until a comparison with a counter fails."""
    if end.type not in ("Less", "LessEqual", "Greater", "GreaterEqual"):
        return None
    counter, limit = list(end.inputs)[:: 1 if end.type.startswith("Less") else -1]
    place = _place(condition, counter)
    bound = _fixed(op, condition, limit, depth)
    if place is None or bound is None:
        return None
    start, step = _value(op.inputs[place], depth), _step(op, body, place, depth)
    if start is None or step is None or step <= 0:
        return None
    bound += 1 if end.type.endswith("Equal") else 0
    count = -((start - bound) // step)
    return max(0, count) if count < _LONGEST else None


def _place(graph: Any, tensor: Any) -> int | None:
    """Which input of a graph a tensor is."""
    while tensor.op.type in ("Identity", "Cast"):
        tensor = tensor.op.inputs[0]
    return next((place for place, given in enumerate(graph.inputs) if given.name == tensor.name), None)


def _fixed(op: Any, graph: Any, tensor: Any, depth: int) -> int | None:
    """A number that is the same in all rounds: of the condition or the body itself, or what the loop is given."""
    place = _place(graph, tensor)
    return _value(tensor, depth) if place is None else _value(op.inputs[place], depth)


def _step(op: Any, body: Any, place: int, depth: int) -> int | None:
    """What a round adds to its counter."""
    tensor = body.outputs[place] if place < len(body.outputs) else None
    while tensor is not None and tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    if tensor is None or tensor.op.type not in ("Add", "AddV2"):
        return None
    own = [_place(body, part) == place for part in tensor.op.inputs]
    return _fixed(op, body, tensor.op.inputs[own.index(False)], depth) if sum(own) == 1 else None


def _value(tensor: Any, depth: int) -> int | None:
    """A whole number that the graph fixes: a constant, the largest or smallest of some, how often another loop ran."""
    from tensorflow.python.framework import tensor_util

    value = tensor_util.constant_value(tensor)
    if value is not None:
        return int(value.reshape(-1)[0]) if value.size == 1 and value.dtype.kind in "iu" else None
    op = tensor.op
    if op.type == "Placeholder":
        return given.get((id(tensor.graph), tensor.name))
    if op.type in ("Identity", "Cast", "Reshape", "Squeeze"):
        return _value(op.inputs[0], depth)
    if op.type in ("Max", "Min") or op.type in _COMPUTED:
        return _arithmetic(op, depth)
    if op.type in ("While", "StatelessWhile") and tensor.value_index == 0:
        return rounds(op, depth + 1)
    return None


def _arithmetic(op: Any, depth: int) -> int | None:
    left = _value(op.inputs[0], depth)
    if op.type in ("Max", "Min") or left is None:
        return left
    right = _value(op.inputs[1], depth)
    if right is None:
        return None
    if right == 0 and op.type in ("FloorDiv", "FloorMod"):
        return None
    return _COMPUTED[op.type](left, right)
