"""Memory as programs hold it: pointers into the device, page-locked memory of the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import calls


class MemoryPointer:
    """A place in the memory of the device."""

    def __init__(self, array: Any, offset: int = 0) -> None:
        self._bytes = array.reshape(-1).view(np.uint8) if array.flags.c_contiguous else array
        self._offset = offset
        self.ptr = int(array.__array_interface__["data"][0]) + offset
        self.size = array.nbytes - offset
        self.mem = self
        self.device_id = 0

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self._bytes, self._offset + offset)

    def __int__(self) -> int:
        return self.ptr

    def memset(self, value: int, size: int) -> None:
        calls.run("cupy.ndarray.fill", self._bytes[self._offset : self._offset + size].fill, (value,), {})

    memset_async = memset


MemoryPointer.__module__ = "cupy.cuda.memory"


class PinnedMemoryPointer(bytearray):
    """Page-locked memory of the host."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.mem = self

    @property
    def ptr(self) -> int:
        return int(calls.quietly(np.frombuffer, self, np.uint8).__array_interface__["data"][0])

    def size(self) -> int:
        return len(self)


PinnedMemoryPointer.__module__ = "cupy.cuda.pinned_memory"


class PinnedMemoryPool:
    """The pool of page-locked memory."""

    def __init__(self, allocator: Any = None) -> None:
        pass

    def malloc(self, size: int) -> PinnedMemoryPointer:
        return PinnedMemoryPointer(size)

    def free_all_blocks(self) -> None:
        pass

    def n_free_blocks(self) -> int:
        return 0


PinnedMemoryPool.__module__ = "cupy.cuda.pinned_memory"
pinned_pool = PinnedMemoryPool()


def is_pinned(array: Any) -> bool:
    """Whether an array of the host lies in page-locked memory."""
    while isinstance(array, np.ndarray):
        array = array.base
    if isinstance(array, memoryview):
        array = array.obj
    return isinstance(array, PinnedMemoryPointer)


def empty_pinned(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    """An array of the host in page-locked memory."""
    kind = np.dtype(dtype)
    dims = (shape,) if np.isscalar(shape) else tuple(shape)
    count = 1
    for dim in dims:
        count *= dim

    def make() -> Any:
        flat = np.frombuffer(PinnedMemoryPointer(max(count * kind.itemsize, 1)), kind, count)
        return flat.reshape(dims, order=order)  # type: ignore[call-overload]

    return calls.quietly(make)


def zeros_pinned(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    """The same, zeros."""
    return empty_pinned(shape, dtype, order)


def empty_like_pinned(a: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None) -> Any:
    """The same with the shape and type of another array."""
    return empty_pinned(a.shape if shape is None else shape, dtype or a.dtype)


zeros_like_pinned = empty_like_pinned
