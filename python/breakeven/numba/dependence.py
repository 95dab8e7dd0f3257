"""Whether the rounds of a loop need each other, by the places that they read and write and the names they hand on."""

from __future__ import annotations

import ast
import math

from .blocks import names_set
from .loops import Loop
from .values import Number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .loops import Access
    from .values import Memory

_FOLDING = (ast.Add, ast.Sub, ast.Mult, ast.BitOr, ast.BitAnd, ast.BitXor)


class Verdict:
    """`why`: what a round needs of the one before, empty where it needs nothing; `told`: that is known, and not only
    feared. `folds`: names that all rounds add to; `adds`: memory that rounds add to at places known only then."""

    __slots__ = ("adds", "folds", "told", "why")

    def __init__(self, why: str = "", told: bool = True) -> None:
        self.why = why
        self.told = told
        self.folds: set[str] = set()
        self.adds: list[Memory] = []


def of(loop: Loop) -> Verdict:
    """The verdict on one loop."""
    if loop.kind == "while":
        return Verdict("it is a `while` loop")
    if loop.ends_early:
        return Verdict("it may end before its last round")
    # What stands for nothing yet when the loop begins each round sets before it reads it.
    carried = handed_on(loop.body) & loop.before
    folds = {name for name in carried if is_fold(loop.body, name, carried)}
    verdict = Verdict()
    verdict.folds = folds
    by_memory: dict[int, list[Access]] = {}
    for access in loop.all_accesses():
        made_in = access.memory.made_in
        if not (isinstance(made_in, Loop) and made_in.is_within(loop)):
            by_memory.setdefault(id(access.memory), []).append(access)
    written = [group for group in by_memory.values() if any(access.writes for access in group)]
    for group in written:
        if all(access.writes and access.adds for access in group) and not _own_axis(group, loop):
            verdict.adds.append(group[0].memory)
    if loop.kind == "prange":
        return verdict
    if left := sorted(carried - folds):
        return Verdict(f"a round needs `{left[0]}` of the one before")
    for group in written:
        memory = group[0].memory
        if memory in verdict.adds or _own_axis(group, loop):
            continue
        name = f"`{memory.name}`" if memory.name else "an array"
        if any(_unknown(access) for access in group):
            return Verdict(f"where it reads or writes {name} depends on data", told=False)
        reads = [access for access in group if not access.writes]
        what = "reads what another round writes of" if reads else "writes the same place as another round in"
        return Verdict(f"a round {what} {name}")
    return verdict


def _unknown(access: Access) -> bool:
    """Whether it is not known where it reads or writes."""
    return not access.index or any(isinstance(item, Number) and item.value is None for item in access.index)


def _own_axis(group: list[Access], loop: Loop) -> bool:
    """Whether each round has a part of the memory to itself, along one of its axes, in which it reads and writes."""
    writes = [access for access in group if access.writes]
    axes = min((len(access.index) for access in group), default=0)
    return any(
        all(_is_own(access.index[axis], loop) for access in writes)
        and all(_same(one.index[axis], writes[0].index[axis]) or _apart_of_all(one, writes, loop) for one in group)
        for axis in range(axes)
    )


def _is_own(place: Number | None, loop: Loop) -> bool:
    """Whether a place is another one in each round."""
    if place is None or place.value is None or loop not in (place.factors or {}):
        return False
    reach = 0
    for other, factor in (place.factors or {}).items():
        if other is loop or not (isinstance(other, Loop) and other.is_within(loop)):
            continue
        if other.length is None:
            return False
        reach += abs(factor) * max(other.length - 1, 0)
    return reach < abs((place.factors or {})[loop])


def _same(one: Number | None, other: Number | None) -> bool:
    if one is None or other is None or one.value is None:
        return False
    return one.value == other.value and (one.factors or {}) == (other.factors or {})


def _apart_of_all(access: Access, writes: list[Access], loop: Loop) -> bool:
    """Whether an access is never where, in another round, one of the writes is."""
    return all(
        any(_apart(one, other, loop) for one, other in zip(access.index, write.index)) for write in writes
    )


def _apart(one: Number | None, other: Number | None, loop: Loop) -> bool:
    """Whether two places are never the same, whichever rounds of the loop they are in."""
    if one is None or other is None or one.value is None or other.value is None:
        return False
    low = high = float(one.value - other.value)  # type: ignore[arg-type]
    shared: dict[object, int] = {}
    for place, sign in ((one, 1), (other, -1)):
        for key, factor in (place.factors or {}).items():
            if not (isinstance(key, Loop) and key.is_within(loop)):
                shared[key] = shared.get(key, 0) + sign * factor
                continue
            low, high = _reached(low, high, key, sign * factor)
    # Loops around both are in one round of theirs.
    for key, factor in shared.items():
        if factor:
            low, high = _reached(low, high, key, factor)
    return low > 0 or high < 0


def _reached(low: float, high: float, loop: object, factor: int) -> tuple[float, float]:
    """How far from `low` and `high` a loop takes what its counter is in, times a factor."""
    length = loop.length if isinstance(loop, Loop) else None
    reach = factor * (math.inf if length is None else max(length - 1, 0))
    return low + min(reach, 0), high + max(reach, 0)


def handed_on(body: list[ast.stmt]) -> set[str]:
    """Names that a round reads before it sets them, and sets."""
    flow = _Flow()
    flow.block(body, set())
    return flow.early & names_set(body)


class _Flow:
    """Which names are read before they are set for sure."""

    def __init__(self) -> None:
        self.early: set[str] = set()

    def read(self, node: ast.AST, known: set[str]) -> None:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id not in known:
                self.early.add(inner.id)

    def block(self, body: list[ast.stmt], known: set[str]) -> set[str]:
        """Adds what is read early; gives the names that are set for sure by the end."""
        for node in body:
            if isinstance(node, ast.If):
                self.read(node.test, known)
                known = self.block(node.body, set(known)) & self.block(node.orelse, set(known))
            elif isinstance(node, (ast.For, ast.While)):
                self.read(node.iter if isinstance(node, ast.For) else node.test, known)
                inside = names_set([ast.Assign([node.target], ast.Constant(0))]) if isinstance(node, ast.For) else set()
                self.block(node.body, known | inside)
                self.block(node.orelse, set(known))
            elif isinstance(node, ast.AugAssign):
                self.read(node.value, known)
                if isinstance(node.target, ast.Name) and node.target.id not in known:
                    self.early.add(node.target.id)
                else:
                    self.read(node.target, known)
            else:
                value = getattr(node, "value", None)
                self.read(value if isinstance(value, ast.AST) else node, known)
                if isinstance(node, ast.Assign):
                    for target in node.targets:
                        self.read(target, known)
                known = known | names_set([node])
        return known


def is_fold(body: list[ast.stmt], name: str, carried: set[str]) -> bool:
    """Whether rounds only add to a name, or keep the least or the greatest in it."""
    allowed = 0
    for node in (inner for statement in body for inner in ast.walk(statement)):
        if isinstance(node, ast.AugAssign) and _is(node.target, name) and isinstance(node.op, _FOLDING):
            allowed += 1
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and _is(node.targets[0], name):
            if _folds(node.value, name):
                allowed += 2
        elif isinstance(node, ast.If) and not node.orelse:
            allowed += _keeps_extreme(node, name, carried)
    return allowed == sum(
        1 for statement in body for node in ast.walk(statement) if isinstance(node, ast.Name) and node.id == name
    )


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _folds(value: ast.expr, name: str) -> bool:
    """`s + x`, `max(s, x)`."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, _FOLDING):
        return _is(value.left, name) or (_is(value.right, name) and not isinstance(value.op, ast.Sub))
    called = value.func if isinstance(value, ast.Call) else None
    extreme = getattr(called, "id", getattr(called, "attr", ""))
    return extreme in ("min", "max") and any(_is(item, name) for item in getattr(value, "args", ()))


def _keeps_extreme(node: ast.If, name: str, carried: set[str]) -> int:
    """`if x > s: s = x`: how many times it names `s`; what else is set there is only kept beside."""
    test = node.test
    sides = (test.left, *test.comparators) if isinstance(test, ast.Compare) else ()
    plain = all(isinstance(inner, ast.Assign) and isinstance(inner.targets[0], ast.Name) for inner in node.body)
    if not plain or len(sides) != 2:
        return 0
    sets = [inner for inner in node.body if isinstance(inner, ast.Assign) and _is(inner.targets[0], name)]
    if any(_is(side, name) for side in sides):
        return 2 if len(sets) == 1 else 0
    kept = any(side.id in carried for side in sides if isinstance(side, ast.Name))
    return len(sets) if kept else 0
