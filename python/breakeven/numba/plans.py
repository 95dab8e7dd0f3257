"""What is told of calls that look alike, found out at the first of them: before it runs, and after it where its rounds
have to be counted."""

from __future__ import annotations

import copy

import numpy

from . import kernels, random_state, statements
from .counting import Twin
from .slicing import deciding
from .values import Array, NotTold, of_object
from .walk import NeedsCounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .source import Source
    from .values import Memory, Value
    from .walk import Mark

#: How long is looked for a place that two arrays share.
_WORK = 1000
#: Arrays that are copied for counting, bytes in all.
_LARGEST = 1 << 29
#: Rounds of a `while` that are counted at most, for each ns that the call took, and in any case.
_ROUNDS_PER_NS, _LEAST_ROUNDS = 4, 1_000_000


class Plan:
    """What is told of a call. `facts`: as the rule of the callables' table takes them, nothing where it was not
    understood. `data`: it depends on what is in the arrays."""

    __slots__ = ("data", "facts", "given", "made", "stays", "values")

    def __init__(self) -> None:
        self.facts: dict[str, object] | None = None
        self.stays: str | None = None
        self.given = (1 << 63) - 1
        self.made = 0
        self.values = 0
        self.data = False


class Asked:
    """One call that is being found out about."""

    def __init__(self, source: Source, given: list[object], options: Mapping[str, object]) -> None:
        self.source = source
        self.objects = given
        self.plan = Plan()
        #: Loops that are no kernels, by line, and why.
        self.why: list[tuple[int, str]] = []
        self.uneven: list[int] = []
        self.shared: list[tuple[Memory, Memory]] = []
        self.plan.values = _bits(source, deciding(source))
        self.twin: Twin | None = None
        self.state: random_state.State | None = None
        try:
            self._walk(None)
        except NeedsCounts:
            self._prepare(options)

    def _values(self) -> list[Value]:
        names = self.source.parameters
        found = [of_object(item, name, place) for place, (name, item) in enumerate(zip(names, self.objects))]
        self.shared = _shared([value for value in found if isinstance(value, Array)], self.objects)
        return found

    def _walk(self, counts: Mapping[Mark, int] | None) -> None:
        given = self._values()
        root, returns = statements.walked(self.source, given, counts)
        if any(memory.written for pair in self.shared for memory in pair):
            raise NotTold("two arrays that it is given lie in each other's memory, and it writes to one")
        told = kernels.told(root, returns)
        plan = self.plan
        plan.given, plan.made = kernels.arguments(root, given)
        if told.unsure is not None:
            raise NotTold(f"whether its rounds need each other is not known: {told.unsure}")
        plan.facts, plan.stays = {"parts": told.parts}, told.stays
        self.why, self.uneven = told.why, told.uneven

    def _prepare(self, options: Mapping[str, object]) -> None:
        """Before the call: what counting it will need of what the call changes."""
        self.plan.data = True
        self.twin = twin = _twin_of(self.source, options)
        if twin.random:
            self.state = random_state.taken()
        names = self.source.parameters
        copied = 0
        for place, (name, item) in enumerate(zip(names, self.objects)):
            if name not in twin.names:
                continue
            if isinstance(item, numpy.ndarray) and twin.writes:
                copied += item.nbytes
                if copied > _LARGEST:
                    raise NotTold("the arrays that its rounds depend on are too large to be copied")
                self.objects[place] = item.copy(order="K")
            elif isinstance(item, numpy.random.Generator):
                self.objects[place] = copy.deepcopy(item)
            elif twin.writes and type(item).__module__.startswith("numba."):
                raise NotTold("it changes a list or an object that its rounds depend on")

    def counted(self, ns: int) -> None:
        """After the call, which took so long: its rounds are counted, if they must be."""
        if self.twin is None:
            return
        after = random_state.taken() if self.state is not None else None
        try:
            if self.state is not None:
                random_state.put_back(self.state)
            counts = self.twin.run(self.objects, max(ns * _ROUNDS_PER_NS, _LEAST_ROUNDS))
        finally:
            if after is not None:
                random_state.put_back(after)
        self._walk(counts)


_TWINS: dict[tuple[object, tuple[tuple[str, object], ...]], Twin | NotTold] = {}


def _twin_of(source: Source, options: Mapping[str, object]) -> Twin:
    key = (source, tuple(sorted((name, str(value)) for name, value in options.items())))
    found = _TWINS.get(key)
    if found is None:
        try:
            found = Twin(source, options)
        except NotTold as why:
            found = why
        _TWINS[key] = found
    if isinstance(found, NotTold):
        raise found
    return found


def _bits(source: Source, names: set[str]) -> int:
    return sum(1 << place for place, name in enumerate(source.parameters[:63]) if name in names)


def _shared(found: list[Array], objects: list[object]) -> list[tuple[Memory, Memory]]:
    """Arrays that lie in each other's memory; one that is given twice is one memory."""
    pairs = []
    arrays = [(value, objects[value.memory.argument]) for value in found]
    for place, (value, array) in enumerate(arrays):
        for other, before in arrays[:place]:
            if array is before:
                other.memory.others.append(value.memory)
                value.memory.others.append(other.memory)
                value.memory = other.memory
            elif isinstance(array, numpy.ndarray) and isinstance(before, numpy.ndarray) and _overlap(array, before):
                pairs.append((value.memory, other.memory))
    return pairs


def _overlap(one: numpy.ndarray, other: numpy.ndarray) -> bool:
    try:
        return bool(numpy.shares_memory(one, other, max_work=_WORK))  # type: ignore[arg-type]
    except numpy.exceptions.TooHardError:
        return True
