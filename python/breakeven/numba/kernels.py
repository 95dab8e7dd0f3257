"""From the loops of a call to the kernels that a person would write for them: one thread a round of a parallel loop."""

from __future__ import annotations

from . import dependence
from .loops import Loop
from .values import Array, Number, Several

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .dependence import Verdict
    from .loops import ArrayOp
    from .values import Memory, Value

#: Beyond this share of the operations in loops that are no kernels the call stays on the host: for them a thread of a
#: GPU takes tens of times as long as a core.
_ALONE = 0.05
#: A loop around another does less than this share of the work by itself: both are the grid then.
_LITTLE = 0.1
#: Threads that go together, and bytes of a number.
_WARP, _NUMBER = 32, 8
#: Threads of a block, which folds what they have, and what the state of a random number generator holds.
_BLOCK, _STATE = 256, 16
#: From this share of the operations on `float64` decides how long a kernel takes.
_DOUBLE = 0.2


class Told:
    """What is told of a call: `parts` of the routine; `stays`: the id of why it stays on the host; `unsure`: why it is
    not known whether its loops are kernels."""

    def __init__(self) -> None:
        self.parts: list[dict[str, object]] = []
        self.stays: str | None = None
        self.unsure: str | None = None
        #: Loops that are no kernels, by line, and why; those whose rounds end at different times.
        self.why: list[tuple[int, str]] = []
        self.uneven: list[int] = []


def told(root: Loop, returns: list[Value]) -> Told:
    """The kernels of a call."""
    kernels = _Kernels()
    kernels.body(root)
    found = kernels.told
    alone, whole = kernels.alone, kernels.alone + kernels.parallel
    if not found.parts and not kernels.sequential:
        found.stays = "scalar"
        found.parts.append(_threads(1, 1.0, root.all_work()))
        return found
    if alone > _ALONE * whole or not found.parts:
        unsure = [verdict.why for _, verdict in kernels.sequential if not verdict.told]
        found.unsure = unsure[0] if unsure else None
        found.stays = "sequential"
    for loop, _ in kernels.sequential:
        read = sum(access.times * access.itemsize for access in loop.all_accesses() if not access.writes)
        written = sum(access.times * access.itemsize for access in loop.all_accesses() if access.writes)
        found.parts.append(_threads(1, loop.begun, loop.all_work(), read / loop.begun, written / loop.begun))
    found.parts += [_copy_back(1.0)] if any(_is_scalar(value) for value in returns) else []
    return found


def arguments(root: Loop, given: list[Value]) -> tuple[int, int]:
    """Bits of the arguments whose arrays are read, and of those whose arrays are written."""
    writes: dict[int, float] = {}
    for access in root.all_accesses():
        if access.writes:
            writes[id(access.memory)] = writes.get(id(access.memory), 0) + access.times * access.itemsize
    read = written = 0
    for memory in _memories(given):
        if memory.argument < 0 or memory.argument > 63:
            continue
        group = _one_of(memory, [])
        is_written = any(one.written for one in group)
        if any(one.read for one in group) or (is_written and writes.get(id(memory), 0) < memory.bytes):
            read |= 1 << memory.argument
        if is_written:
            written |= 1 << memory.argument
    return read, written


def _memories(given: Iterable[Value]) -> list[Memory]:
    found = []
    for value in given:
        if isinstance(value, Array):
            found.append(value.memory)
        elif isinstance(value, Several):
            found += _memories(value.items)
    return found


def _one_of(memory: Memory, found: list[Memory]) -> list[Memory]:
    """All memory that the same names stood for."""
    if memory not in found:
        found.append(memory)
        for other in memory.others:
            _one_of(other, found)
    return found


def _is_scalar(value: Value) -> bool:
    return isinstance(value, Number) or (isinstance(value, Several) and any(map(_is_scalar, value.items)))


class _Kernels:
    def __init__(self) -> None:
        self.told = Told()
        #: Operations in kernels, and in loops that are none.
        self.parallel = 0.0
        self.alone = 0.0
        self.sequential: list[tuple[Loop, Verdict]] = []

    def body(self, loop: Loop) -> None:
        """What the host runs by itself: a kernel for each of its parallel loops and operations on arrays."""
        for op in loop.ops:
            self.array_op(op)
        for child in loop.children:
            if child.rounds <= 0:
                continue
            verdict = dependence.of(child)
            if not verdict.why:
                self.region(child, verdict)
                continue
            self.told.why.append((child.line, verdict.why))
            if any(_has_wide_ops(inner) or (inner is not child and _is_wide(inner)) for inner in child.subtree()):
                self.body(child)
                if child.kind == "while" or child.ends_early:
                    self.told.parts.append(_copy_back(child.rounds))
            else:
                self.sequential.append((child, verdict))
                self.alone += _amount(child)

    def array_op(self, op: ArrayOp) -> None:
        """An operation on whole arrays, which is a kernel by itself."""
        if op.times < 1 or (op.op is None and op.n == 0):
            return
        part: dict[str, object] = {"dtype": op.dtype, "count": round(op.times), "read": op.read, "written": op.written}
        part.update({"op": op.op} if op.op is not None else {"n": op.n, "functions": dict(op.functions)})
        self.told.parts.append(part)
        self.parallel += op.times * (op.flop + op.n * (1 + sum(op.functions.values())))

    def region(self, loop: Loop, verdict: Verdict) -> None:
        """A parallel loop as a kernel; with the loop within it, where that is nearly all of it, as a grid."""
        count = loop.begun
        n = max(round(_grid_of(loop).rounds / count), 1)
        read = written = 0.0
        for memory, loads, stores in _touched(loop):
            read += min(loads / count, memory.bytes)
            written += min(stores / count, memory.bytes)
        if any(inner.random for inner in loop.subtree()):
            read, written = read + n * _STATE, written + n * _STATE
        self.told.parts.append(_threads(n, count, loop.all_work(), read, written))
        inside = [inner for inner in loop.subtree() if inner is not loop and inner.rounds > 0]
        self.told.uneven += [inner.line for inner in inside if inner.kind == "while" or inner.ends_early]
        self.parallel += _amount(loop)
        if verdict.folds:
            fold = {"reduce": {"n": -(-n // _BLOCK), "out": 1, "flop_per_element": 1.0}}
            self.told.parts.append({"op": fold, "dtype": "f64", "count": round(count)})
        for memory in verdict.adds:
            times = sum(access.times for access in loop.all_accesses() if access.memory is memory and access.writes)
            target = max(memory.bytes // 8, 1)
            scatter = {"scatter": {"n": round(times / count), "target": target, "accumulate": True}}
            self.told.parts.append({"op": scatter, "dtype": "f64", "count": round(count)})


def _is_wide(loop: Loop) -> bool:
    """Whether it fills at least a warp each time that it begins, with the loops within it that are of its grid."""
    return _is_parallel(loop) and _grid_of(loop).rounds >= _WARP * loop.begun


def _has_wide_ops(loop: Loop) -> bool:
    """Whether an operation on whole arrays fills at least a warp: on fewer elements it is not worth a launch."""
    return any(max(op.n, op.read // _NUMBER, op.written // _NUMBER) >= _WARP for op in loop.ops)


def _is_parallel(loop: Loop) -> bool:
    return loop.rounds > 0 and not dependence.of(loop).why


def _grid_of(loop: Loop) -> Loop:
    """The innermost loop whose rounds are threads."""
    while (inner := _whole_of(loop)) is not None:
        loop = inner
    return loop


def _whole_of(loop: Loop) -> Loop | None:
    """The parallel loop that is nearly all of what this one does."""
    if len(loop.children) != 1 or loop.ops or not _is_parallel(loop.children[0]):
        return None
    inner = loop.children[0]
    own = sum(loop.work.values())
    verdict = dependence.of(inner)
    if verdict.folds or verdict.adds or own > _LITTLE * max(sum(inner.all_work().values()), 1.0):
        return None
    return inner


def _touched(loop: Loop) -> list[tuple[Memory, float, float]]:
    """Memory from outside a loop, with the bytes that all its rounds load and store."""
    found: dict[int, tuple[Memory, float, float]] = {}
    for access in loop.all_accesses():
        made_in = access.memory.made_in
        if isinstance(made_in, Loop) and made_in.is_within(loop):
            continue
        memory, loads, stores = found.get(id(access.memory), (access.memory, 0.0, 0.0))
        size = access.times * access.itemsize
        both = access.writes and access.adds
        found[id(memory)] = (memory, loads + size * (not access.writes or both), stores + size * access.writes)
    return list(found.values())


def _amount(loop: Loop) -> float:
    """Operations, loads and stores, as far as it matters which of two loops does more."""
    return sum(loop.all_work().values()) + sum(access.times for access in loop.all_accesses()) + loop.rounds


def _threads(
    n: int, count: float, work: Mapping[tuple[str, str], float], read: float = 0.0, written: float = 0.0
) -> dict[str, object]:
    """A kernel of `n` threads that share this work, in `count` runs."""
    each: dict[str, float] = {}
    for (function, _), times in work.items():
        each[function] = each.get(function, 0.0) + times / (n * count)
    part: dict[str, object] = {"n": n, "count": round(count), "dtype": _dtype(work), "functions": each}
    part.update({"read": round(read), "written": round(written)})
    return part


def _dtype(work: Mapping[tuple[str, str], float]) -> str:
    """The type that decides how long it takes."""
    whole = sum(work.values())
    for dtype in ("f64", "f32"):
        if sum(times for (_, kind), times in work.items() if kind == dtype) > _DOUBLE * whole:
            return dtype
    kinds = sorted({kind for _, kind in work} - {"bool"})
    return kinds[-1] if kinds else "f64"


def _copy_back(times: float) -> dict[str, object]:
    """The host reads one number that a kernel made."""
    return {"op": {"transfer": {"direction": "d2h", "bytes": 8}}, "dtype": "f64", "count": max(round(times), 1)}
