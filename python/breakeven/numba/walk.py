"""Where the walk through a function stands: in which loop, how often that is reached, what names stand for."""

from __future__ import annotations

import numpy

from .functions import of_complex
from .loops import Access, ArrayOp, Loop
from .values import Array, Memory, NotTold, Number, new_array, real

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping, Sequence
    from types import FunctionType

    from .source import Source
    from .values import Value

#: A place in the source of a function, and by which calls it was reached.
Mark = tuple[tuple[tuple[int, int], ...], int, int, str]

_SHORT = {
    **{"float64": "f64", "float32": "f32", "float16": "f16", "complex128": "c128", "complex64": "c64", "bool": "bool"},
    **{"int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8"},
    **{"uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8"},
}


class NeedsCounts(Exception):
    """How often something runs depends on data."""


class Frame:
    """A function that is walked through: what its names stand for, and by which calls it was reached."""

    def __init__(self, source: Source, path: tuple[tuple[int, int], ...]) -> None:
        self.source = source
        self.path = path
        self.names: dict[str, Value] = {}
        self.returns: list[Value] = []
        self.function: FunctionType = source.function

    def mark(self, node: ast.AST, part: str) -> Mark:
        return (self.path, node.lineno, node.col_offset, part)  # type: ignore[attr-defined]


class _Pending:
    """What a statement does to arrays of one shape: compiled code does it in one pass."""

    def __init__(self) -> None:
        self.functions: dict[str, float] = {}
        self.read: dict[int, int] = {}
        self.dtype = numpy.dtype("bool")
        self.written = 0


class Walk:
    """The state of the walk. `counts`: how often each place was reached, where a twin of the function has counted."""

    def __init__(self, body: list[ast.stmt], line: int, counts: Mapping[Mark, int] | None) -> None:
        self.root = Loop("body", line, None, body)
        self.root.begun = self.root.rounds = 1.0
        self.loop = self.root
        self.times = 1.0
        self.line = line
        self.counts = counts
        self.frames: list[Frame] = []
        self.pending: dict[tuple[int, ...], _Pending] = {}
        self.temporary: set[int] = set()
        #: Memory is told apart by where it is, so that it has to stay.
        self.made_here: list[Memory] = []

    def count(self, mark: Mark) -> float | None:
        """How often a place was reached, where that was counted."""
        return None if self.counts is None else float(self.counts.get(mark, 0))

    def cost(self, functions: Mapping[str, float], dtype: numpy.dtype, name: str = "") -> None:
        """A scalar operation; `name` by which complex numbers cost otherwise."""
        if dtype.kind == "c":
            functions = of_complex(functions, name)
            dtype = real(dtype)
        for function, times in functions.items():
            self.loop.work[function, short(dtype)] += times * self.times

    def touches(self, array: Array, index: tuple[Number | None, ...], writes: bool, adds: bool = False) -> None:
        """Elements of an array are read or written, each time that this place is reached."""
        memory = array.memory
        if memory.argument >= 0 or memory.made_in is not self.loop:
            size = array.size if not index or None in index else 1
            self.loop.accesses.append(
                Access(memory, index, self.times * size, array.dtype.itemsize, self.line, writes, adds)
            )
        if writes:
            memory.written = True
        else:
            memory.read = True

    def whole(self, array: Array, writes: bool, adds: bool = False) -> None:
        """All elements of an array or view are read or written."""
        self.touches(array, tuple(item if isinstance(item, Number) else None for item in array.axes), writes, adds)

    def elementwise(self, arrays: Sequence[Array], functions: Mapping[str, float], dtype: numpy.dtype) -> Array:
        """A function of each element of arrays; gives what is made of them."""
        shape = numpy.broadcast_shapes(*(array.shape for array in arrays))
        pending = self.pending.setdefault(shape, _Pending())
        for function, times in functions.items():
            pending.functions[function] = pending.functions.get(function, 0) + times
        for array in arrays:
            if id(array.memory) not in self.temporary:
                pending.read[id(array.memory)] = array.size * array.dtype.itemsize
                self.whole(array, False)
        pending.dtype = numpy.promote_types(pending.dtype, dtype)
        made = self.made(dtype, shape)
        self.temporary.add(id(made.memory))
        pending.written = made.size * dtype.itemsize
        return made

    def made(self, dtype: numpy.dtype, shape: tuple[int, ...]) -> Array:
        """An array that is made here."""
        if any(length < 0 for length in shape):
            raise NotTold("it makes an array of a negative length")
        array = new_array(dtype, shape, self.loop)
        self.made_here.append(array.memory)
        return array

    def array_op(
        self,
        op: dict[str, object],
        dtype: numpy.dtype,
        read: Sequence[Array],
        result: Array | None,
        functions: Mapping[str, float] | None = None,
        n: int = 0,
        flop: float = 0.0,
    ) -> None:
        """An operation on whole arrays that is a kernel of its own."""
        for array in read:
            if id(array.memory) not in self.temporary:
                self.whole(array, False)
        self.flush()
        nbytes = sum(array.size * array.dtype.itemsize for array in read)
        written = result.size * result.dtype.itemsize if result is not None else dtype.itemsize
        made = ArrayOp(self.times, short(dtype), nbytes, written, op=op, n=n, functions=functions, flop=flop)
        self.loop.ops.append(made)

    def flush(self) -> None:
        """A statement has ended: what it did to arrays is done."""
        for shape, pending in self.pending.items():
            n = 1
            for length in shape:
                n *= length
            read = sum(pending.read.values())
            dtype = short(pending.dtype)
            self.loop.ops.append(
                ArrayOp(self.times, dtype, read, pending.written, n=n, functions=pending.functions)
            )
        self.pending = {}

    def number(self, dtype: numpy.dtype, random: bool = False) -> Number:
        """A number that nobody knows."""
        if random:
            self.loop.random = True
        return Number(dtype, None, None, True)


def short(dtype: numpy.dtype) -> str:
    """The name of a type in the workload format."""
    return _SHORT.get(dtype.name, "f64")


def mean(place: Number) -> int | None:
    """What a place is on average over the rounds of the loops that it depends on; `None` where those are not known."""
    if place.value is None or isinstance(place.value, complex):
        return None
    total = float(place.value)
    for loop, factor in (place.factors or {}).items():
        length = loop.length if isinstance(loop, Loop) else None
        if length is None:
            return None
        total += factor * (length - 1) / 2
    return round(total)
