"""Memory of the imagined device: what lives there, and the pool that programs ask about."""

from __future__ import annotations

import contextlib
import math
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import _native
from . import frameless, streams
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
        from . import calls, pointers

        with using(self):
            return pointers.MemoryPointer.of(calls.quietly(np.zeros, size, np.uint8))

    def _take(self, size: int) -> None:
        limit = self._limit or (gpu.usable if gpu.named else 0)
        if limit and self._used + size > limit:
            raise OutOfMemoryError(size, self._used, self._limit)
        _count(size)
        self._used += size
        self._total = max(self._total, self._used)

    def _give(self, size: int) -> None:
        self._used -= size
        _count(-size)


class _Registers(MemoryPool):
    """Where a fused kernel has what it computes on the way: that takes no memory."""

    def _take(self, size: int) -> None:
        pass

    def _give(self, size: int) -> None:
        pass


MemoryPool.__module__ = "cupy.cuda.memory"
pool = MemoryPool()
registers = _Registers()
#: The pool that memory comes from now, and what all of them have given out.
_current = pool
_used = 0


def _count(size: int) -> None:
    global _used
    _used += size
    if size > 0:
        streams.used = True
        _native.device_memory(_used)


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

    __slots__ = ("__weakref__", "array", "pool", "size")

    def __init__(self, array: Any) -> None:
        self.array = array
        self._take_from(_current)

    def _take_from(self, source: MemoryPool) -> None:
        self.size = 0
        given = rounded(self.array.nbytes)
        self.pool = source
        if given and self._is_told_of():
            self._take_telling(self.array, given)
        else:
            source._take(given)
        self.size = given

    def place(self) -> None:
        """What a fused kernel gives back lies in memory."""
        if self.pool is registers:
            self._take_from(_current)

    def _is_told_of(self) -> bool:
        return bool(hooks) and self.pool is not registers

    def _take_telling(self, array: Any, given: int) -> None:
        """The same, with what the program's hooks are told."""
        pool, at = self.pool, array.__array_interface__["data"][0]
        _tell("malloc_preprocess", size=array.nbytes, mem_size=given)
        grows = pool._used + given > pool._total
        if grows:
            _tell("alloc_preprocess", mem_size=given)
        pool._take(given)
        if grows:
            _tell("alloc_postprocess", mem_size=given, mem_ptr=at)
        _tell("malloc_postprocess", size=array.nbytes, mem_size=given, mem_ptr=at, pmem_id=id(self))

    def __del__(self) -> None:
        if not self.size or _count is None:  # nothing was taken, or Python ends
            return
        told = {"mem_size": self.size, "pmem_id": id(self)}
        is_told_of = self._is_told_of()
        if is_told_of:
            told["mem_ptr"] = self.array.__array_interface__["data"][0]
            _tell("free_preprocess", **told)
        self.pool._give(self.size)
        if is_told_of:
            _tell("free_postprocess", **told)


frameless.methods(Block)
_blocks: weakref.WeakValueDictionary[int, Block] = weakref.WeakValueDictionary()


def owner(array: Any) -> Any:
    """The array at the end of the chain of views."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def block(array: Any) -> Block:
    """The memory that an array lies in."""
    whole = owner(array)
    known = _blocks.get(id(whole))
    if known is None:
        known = _blocks[id(whole)] = Block(whole)
    return known
