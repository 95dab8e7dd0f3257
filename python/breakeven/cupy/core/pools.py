"""Memory of the imagined device: what lives there, and the pool that programs ask about."""

from __future__ import annotations

import contextlib
import math
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import _native
from . import shared, streams
from .imagined import gpu

#: CuPy's pool gives out multiples of this, bytes.
_UNIT = 512


class OutOfMemoryError(MemoryError):
    """Out-of-memory error, with the text that CuPy gives it."""

    def __init__(self, size: int, total: int, limit: int = 0) -> None:
        self._size, self._total, self._limit = size, total, limit
        text = f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes"
        super().__init__(text + (f", limit set to: {limit:,} bytes)." if limit else ")."))

    def __reduce__(self) -> Any:
        return type(self), (self._size, self._total, self._limit)


OutOfMemoryError.__module__ = "cupy.cuda.memory"


class MemoryPool:
    """The pool that every array comes from: what it holds and gives out is counted, the memory is NumPy's."""

    def __init__(self, allocator: Any = None) -> None:
        self._used = 0
        self._total = 0
        self._limit = 0

    def used_bytes(self) -> int:
        return self._used

    def total_bytes(self) -> int:
        return self._total

    def free_bytes(self) -> int:
        return self._total - self._used

    def n_free_blocks(self) -> int:
        return int(self._total > self._used)

    def free_all_blocks(self, stream: Any = None) -> None:
        self._total = self._used

    def free_all_free(self) -> None:
        self.free_all_blocks()

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        if size is None:
            if fraction is None:
                raise ValueError("Either size or fraction must be specified")
            if not 0 <= fraction <= 1:
                raise ValueError("memory limit fraction out of range: " + str(fraction))
            size = int(fraction * gpu.memory)
        elif fraction is not None:
            raise ValueError("size and fraction cannot be specified at one time")
        if size < 0:
            raise ValueError("memory limit size out of range: " + str(size))
        self._limit = size

    def get_limit(self) -> int:
        return self._limit

    def malloc(self, size: int) -> Any:
        with using(self):
            return shared.state.pointer_to(shared.quietly(np.zeros, size, np.uint8))

    def _take(self, size: int) -> None:
        limit = self._limit or (gpu.usable if gpu.named else 0)
        if limit and self._used + size > limit:
            raise OutOfMemoryError(size, self._used, self._limit)
        if size > 0:
            streams.works.used = True
            _native.device_memory(_all._used + size)
        # No call from here on: after one a handler of signals may raise, and what is half taken would stay so.
        _all._used += size
        self._used += size
        if self._used > self._total:
            self._total = self._used

    def _give(self, size: int) -> None:
        self._used -= size
        _all._used -= size


class _Registers(MemoryPool):
    """Where a fused kernel has what it computes on the way: that takes no memory."""

    def _take(self, size: int) -> None:
        pass

    def _give(self, size: int) -> None:
        pass


MemoryPool.__module__ = "cupy.cuda.memory"
pool = MemoryPool()
registers = _Registers()
#: What all pools have given out.
_all = MemoryPool()
#: The pool that memory comes from now.
_current = pool


def rounded(size: int) -> int:
    """What CuPy's pools give for so many bytes."""
    return -(-size // _UNIT) * _UNIT


def pass_through(size: int) -> None:
    """Taken and given back within one call."""
    given = rounded(size)
    _current._take(given)
    _current._give(given)


def use(source: Any) -> None:
    """From now on arrays lie in the memory of this pool; None: in none."""
    global _current
    _current = source if isinstance(source, MemoryPool) else MemoryPool()


@contextlib.contextmanager
def using(source: Any) -> Iterator[None]:
    """The same for a block."""
    global _current
    before = _current
    use(source)
    try:
        yield
    finally:
        _current = before


class MemoryAsyncPool(MemoryPool):
    """The pool of CUDA itself."""

    __module__ = "cupy.cuda.memory"


def refuse(error: MemoryError) -> None:
    """Raises CuPy's error where NumPy has found no memory for what no GPU's would hold either."""
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
    if shape is not None and dtype is not None and (size := math.prod(shape) * dtype.itemsize) > gpu.usable:
        raise OutOfMemoryError(rounded(size), pool.total_bytes()) from None


#: What the program has told to be called when memory is taken and given back, by name (`hooks.py`).
hooks: dict[str, Any] = {}


def _tell(event: str, **told: int) -> None:
    for hook in list(hooks.values()):
        getattr(hook, event)(device_id=0, **told)


class Block:
    """The memory of an array and of all its views; given back with the last of them."""

    __slots__ = ("__weakref__", "taken")
    taken: _Taken


class _Taken(weakref.ref[Block]):
    """What a block takes, and of which pool; None: of none."""

    __slots__ = ("array", "key", "pool", "size")
    array: Any
    key: int
    pool: MemoryPool | None
    size: int

    def take(self, source: MemoryPool) -> None:
        given = rounded(self.array.nbytes)
        if given and hooks and source is not registers:
            self._take_telling(source, given)
        else:
            source._take(given)
        self.size = given
        if given and source is not registers:
            self.pool = source

    def _take_telling(self, pool: MemoryPool, given: int) -> None:
        """The same, with what the program's hooks are told."""
        size, at = self.array.nbytes, _address(self.array)
        _tell("malloc_preprocess", size=size, mem_size=given)
        grows = pool._used + given > pool._total
        if grows:
            _tell("alloc_preprocess", mem_size=given)
        pool._take(given)
        if grows:
            _tell("alloc_postprocess", mem_size=given, mem_ptr=at)
        _tell("malloc_postprocess", size=size, mem_size=given, mem_ptr=at, pmem_id=id(self))


def _give_telling(gone: _Taken) -> None:
    told = {"mem_size": gone.size, "mem_ptr": _address(gone.array), "pmem_id": id(gone)}
    _tell("free_preprocess", **told)
    if gone.pool is not None:
        gone.pool._give(gone.size)
    _tell("free_postprocess", **told)


def _address(array: Any) -> int:
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]


#: By the identity of arrays, as long as their blocks live. What then gives back runs none of Python's code, unless the
#: program has hooks: what a signal's handler raised there would be lost.
_taken: dict[int, _Taken] = {}
_gives_back = _native.GivesBack(_taken, _all, hooks, _give_telling)


def owner(array: Any) -> Any:
    """The array at the end of the chain of views."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def block(array: Any) -> Block:
    """The memory that an array lies in."""
    whole = owner(array)
    key = id(whole)
    taken = _taken.get(key)
    known = None if taken is None else taken()
    if known is None:
        known = Block()
        known.taken = taken = _Taken(known, _gives_back)
        taken.array, taken.key, taken.pool = whole, key, None
        taken.take(_current)
        _taken[key] = taken
    return known


def place(array: Any) -> None:
    """What a fused kernel gives back lies in memory."""
    taken = block(array).taken
    if taken.pool is None:
        taken.take(_current)
