"""The loops of a call as a tree: how often each ran, what it computed, which memory it touched at which places."""

from __future__ import annotations

from collections import defaultdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator, Mapping

    from .values import Memory, Number


class Access:
    """Elements read or written, `times` in all. `index`: one item an axis of the memory, `None` for a whole axis, and
    for all axes where nothing is known. `adds`: `a[i] += x`, which can be done in any order."""

    __slots__ = ("adds", "index", "itemsize", "line", "memory", "times", "writes")

    def __init__(
        self,
        memory: Memory,
        index: tuple[Number | None, ...],
        times: float,
        itemsize: int,
        line: int,
        writes: bool,
        adds: bool = False,
    ) -> None:
        self.memory = memory
        self.index = index
        self.times = times
        self.itemsize = itemsize
        self.line = line
        self.writes = writes
        self.adds = adds


class ArrayOp:
    """An operation on whole arrays, `times` in all: the op as the workload format has it, or `functions` for each of
    `n` elements; `flop`: the operations of one, where a thread did it alone."""

    __slots__ = ("dtype", "flop", "functions", "n", "op", "read", "times", "written")

    def __init__(
        self,
        times: float,
        dtype: str,
        read: int,
        written: int,
        *,
        op: dict[str, object] | None = None,
        n: int = 0,
        functions: Mapping[str, float] | None = None,
        flop: float = 0.0,
    ) -> None:
        self.times = times
        self.dtype = dtype
        self.read = read
        self.written = written
        self.op = op
        self.n = n
        self.functions = functions or {}
        self.flop = flop


class Loop:
    """A loop; the body of the whole function is one that runs once. `kind`: `body`, `for`, `prange` or `while`."""

    def __init__(self, kind: str, line: int, parent: Loop | None, body: list[ast.stmt], target: str = "") -> None:
        self.kind = kind
        self.line = line
        self.parent = parent
        self.body = body
        self.target = target
        self.children: list[Loop] = []
        #: How often it began, and its rounds in all.
        self.begun = 0.0
        self.rounds = 0.0
        #: Rounds of one run, and what the counter begins at and goes up by, where that is known.
        self.length: int | None = None
        #: Operations of its own rounds, by function and type.
        self.work: dict[tuple[str, str], float] = defaultdict(float)
        self.ops: list[ArrayOp] = []
        self.accesses: list[Access] = []
        #: Names that stand for something when it begins.
        self.before: set[str] = set()
        #: It may end before its last round.
        self.ends_early = False
        #: What is random in it.
        self.random = False

    def subtree(self) -> Iterator[Loop]:
        yield self
        for child in self.children:
            yield from child.subtree()

    def is_within(self, other: object) -> bool:
        """Whether it is that loop or in it."""
        found: Loop | None = self
        while found is not None and found is not other:
            found = found.parent
        return found is not None

    def all_work(self) -> dict[tuple[str, str], float]:
        """Operations of it and of all loops in it."""
        total: dict[tuple[str, str], float] = defaultdict(float)
        for loop in self.subtree():
            for key, times in loop.work.items():
                total[key] += times
            for op in loop.ops:
                for function, times in op.functions.items():
                    total[function, op.dtype] += times * op.n * op.times
                total["one", op.dtype] += op.flop * op.times
        return total

    def all_accesses(self) -> list[Access]:
        return [access for loop in self.subtree() for access in loop.accesses]
