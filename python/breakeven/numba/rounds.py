"""How often the body of a `for` runs, and what its target is in a round."""

from __future__ import annotations

import ast
import inspect

import numpy

from . import indexing
from .loops import Loop
from .values import INT, Array, NotTold, Number, Several, Thing, added
from .walk import NeedsCounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .expressions import Evaluator
    from .values import Value
    from .walk import Walk

#: Rounds of outer loops that are gone through to add up those of an inner one.
_MOST = 20_000_000


class Rounds:
    """The rounds of a loop in all; `length`: of one run, where that is always the same; `items`: what it takes."""

    def __init__(self, kind: str, total: float, length: int | None, items: list[Number | Array]) -> None:
        self.kind = kind
        self.total = total
        self.length = length
        self.items = items
        #: Of a `range`: where each run begins, and how far the counter goes in a round.
        self.start: Number | None = None
        self.step = 1
        self.several = False

    def begin(self, outer: Loop, node: ast.For | ast.While, times: float) -> Loop:
        """The loop, as part of the one that it is in."""
        target = node.target.id if isinstance(node, ast.For) and isinstance(node.target, ast.Name) else ""
        loop = Loop(self.kind, node.lineno, outer, node.body, target)
        loop.begun, loop.rounds, loop.length = times, self.total, self.length
        outer.children.append(loop)
        return loop

    def item(self, walk: Walk, loop: Loop) -> Value:
        """What the target is in a round."""
        counter = Number(INT, 0, {loop: 1})
        found: list[Value] = []
        for item in self.items:
            if isinstance(item, Array):
                found.append(indexing.load(walk, item, counter))
            elif self.start is not None and self.start.value is not None:
                place = added(self.start, Number(INT, 0, {loop: self.step}), 1)
                found.append(Number(INT, self.start.value, place))
            else:
                found.append(Number(INT, None if self.start is not None else 0, None if self.start else {loop: 1}))
        return Several(found) if self.several else found[0]


def rounds_of(walk: Walk, values: Evaluator, node: ast.For, counted: float | None) -> Rounds:
    """The rounds of a `for`; `counted` in all, where somebody did."""
    found = node.iter
    if isinstance(found, ast.Call):
        callee = values.value(found.func)
        name = _name(callee)
        given = [values.value(item) for item in found.args]
        if name in ("range", "prange"):
            return _range(walk, name, given, counted)
        if name in ("enumerate", "zip"):
            rounds = _through(walk, [item for item in given if isinstance(item, Array)], counted)
            if len(rounds.items) != len(given):
                raise NotTold(f"it goes through a {name} of something that is no array")
            rounds.several = True
            if name == "enumerate":
                rounds.items.insert(0, Number(INT, 0))
            return rounds
        if name in ("ndindex",):
            raise NotTold("it goes through an `ndindex`")
    iterated = values.value(found)
    if isinstance(iterated, Several):
        length = len(iterated.items)
        rounds = Rounds("for", walk.times * length, length, [])
        numbers = [item for item in iterated.items if isinstance(item, Number)]
        if len(numbers) != length or not numbers:
            raise NotTold("it goes through a tuple of arrays")
        rounds.items, rounds.start = [numbers[0]], Number(INT, None)
        return rounds
    if not isinstance(iterated, Array):
        raise NotTold("it goes through something that is no array")
    return _through(walk, [iterated], counted)


def _name(callee: object) -> str:
    found = callee.object if isinstance(callee, Thing) else None
    name = getattr(found, "__name__", "")
    return "prange" if inspect.isclass(found) and name == "prange" else str(name)


def _through(walk: Walk, arrays: list[Array], counted: float | None) -> Rounds:
    if not arrays or not all(array.shape for array in arrays):
        raise NotTold("it goes through something that is no array")
    length = min(array.shape[0] for array in arrays)
    return Rounds("for", walk.times * length if counted is None else counted, length, list(arrays))


def _range(walk: Walk, name: str, given: list[Value], counted: float | None) -> Rounds:
    numbers = [item for item in given if isinstance(item, Number)]
    if len(numbers) != len(given) or not 1 <= len(numbers) <= 3:
        raise NotTold("it counts by something that is no number")
    start = numbers[0] if len(numbers) > 1 else Number(INT, 0)
    stop = numbers[1] if len(numbers) > 1 else numbers[0]
    step = numbers[2] if len(numbers) > 2 else Number(INT, 1)
    kind = "prange" if name == "prange" else "for"
    if not step.known or not step.value:
        if counted is None:
            raise NeedsCounts
        made = Rounds(kind, counted, None, [start])
        made.start = Number(INT, None)
        return made
    stride = step.whole
    length, total = None, counted
    if start.known and stop.known:
        length = max(len(range(start.whole, stop.whole, stride)), 0)
        total = walk.times * length if counted is None else counted
    elif total is None:
        total = _added_up(walk, start, stop, stride)
    made = Rounds(kind, total, length, [start])
    made.start, made.step = start, stride
    return made


def _added_up(walk: Walk, start: Number, stop: Number, stride: int) -> float:
    """Rounds in all of a loop whose bounds depend on the counters of those around it."""
    if start.value is None or stop.value is None:
        raise NeedsCounts
    span = Number(INT, stop.value - start.value, added(stop, start, -1))
    outer = list(span.factors or {})
    places = 1
    for loop in outer:
        if not isinstance(loop, Loop) or loop.length is None:
            raise NeedsCounts
        places *= loop.length
    if places > _MOST or any(other.length is None for other in _around(walk.loop)):
        raise NeedsCounts
    spans = numpy.array([span.whole], numpy.int64)
    for loop in outer:
        assert isinstance(loop, Loop) and loop.length is not None and span.factors is not None
        spans = (spans[:, None] + numpy.arange(loop.length, dtype=numpy.int64) * span.factors[loop]).ravel()
    lengths = -(-spans // stride) if stride > 0 else -(-(-spans) // -stride)
    return float(walk.times) * float(numpy.maximum(lengths, 0).sum()) / max(places, 1)


def _around(loop: Loop) -> list[Loop]:
    found = []
    while loop.parent is not None:
        found.append(loop)
        loop = loop.parent
    return found
