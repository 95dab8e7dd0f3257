"""Memory as programs hold it: pointers into the device, page-locked memory of the host, copies between addresses."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np

from ..core import calls, devices, pools, shared, streams

#: Page-locked memory comes in multiples of this, bytes.
_UNIT = 512


class Memory:
    """A stretch of the device's memory; `owner` is what keeps it."""

    device_id = 0

    def __init__(self, ptr: int, size: int, owner: Any) -> None:
        self.ptr, self.size, self.owner = ptr, size, owner

    @property
    def device(self) -> devices.Device:
        return devices.Device(0)


class UnownedMemory(Memory):
    """Memory that another library holds."""

    def __init__(self, ptr: int, size: int, owner: Any, device_id: int = -1) -> None:
        super().__init__(ptr, size, owner)


for _class in (Memory, UnownedMemory):
    _class.__module__ = "cupy.cuda.memory"


class MemoryPointer:
    """A place in the memory of the device."""

    device_id = 0

    def __init__(self, mem: Memory, offset: int = 0) -> None:
        self.mem, self._offset = mem, offset
        self.ptr = mem.ptr + offset

    @staticmethod
    def of(array: Any) -> MemoryPointer:
        """The begin of a plain array."""
        block = pools.block(array)
        whole = pools.owner(array)
        start, at = (item.__array_interface__["data"][0] for item in (whole, array))
        return MemoryPointer(Memory(start, max(block.taken.size, whole.nbytes), (whole, block)), at - start)

    @property
    def device(self) -> devices.Device:
        return devices.Device(0)

    def bytes(self, size: int | None = None) -> Any:
        """So many bytes from here on, all unless told, as a plain array."""
        held = max(0, self.mem.size - self._offset)
        return shared.quietly(_at, self.ptr, held if size is None else size)

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self._offset + offset)

    __radd__ = __add__

    def __sub__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self._offset - offset)

    def __int__(self) -> int:
        return self.ptr

    def __repr__(self) -> str:
        return f"<MemoryPointer {hex(self.ptr)} device=0 mem={self.mem!r}>"

    def memset(self, value: int, size: int) -> None:
        calls.run("cupy.ndarray.fill", lambda part: part.fill(value), (self.bytes(size),), {})

    def memset_async(self, value: int, size: int, stream: Any = None) -> None:
        with stream or streams.current():
            self.memset(value, size)

    def copy_from_host(self, mem: Any, size: int) -> None:
        copy(self.ptr, _address(mem), size, 1)

    def copy_to_host(self, mem: Any, size: int) -> None:
        copy(_address(mem), self.ptr, size, 2)

    def copy_from_device(self, src: Any, size: int) -> None:
        copy(self.ptr, _address(src), size, 3)

    def copy_from(self, mem: Any, size: int) -> None:
        copy(self.ptr, _address(mem), size, 3 if isinstance(mem, MemoryPointer) else 1)

    def copy_from_host_async(self, mem: Any, size: int, stream: Any = None) -> None:
        copy(self.ptr, _address(mem), size, 1, stream or streams.current())

    def copy_to_host_async(self, mem: Any, size: int, stream: Any = None) -> None:
        copy(_address(mem), self.ptr, size, 2, stream or streams.current())

    def copy_from_device_async(self, src: Any, size: int, stream: Any = None) -> None:
        copy(self.ptr, _address(src), size, 3, stream or streams.current())

    def copy_from_async(self, mem: Any, size: int, stream: Any = None) -> None:
        copy(self.ptr, _address(mem), size, 3 if isinstance(mem, MemoryPointer) else 1, stream or streams.current())


MemoryPointer.__module__ = "cupy.cuda.memory"
shared.state.pointer_to = MemoryPointer.of


def _at(address: int, size: int) -> Any:
    held: Any = (ctypes.c_ubyte * size).from_address(address) if size else b""
    return np.frombuffer(held, np.uint8)


def _address(place: Any) -> int:
    if isinstance(place, ctypes.c_void_p):
        return place.value or 0
    return int(getattr(place, "ptr", place))


def copy(into: int, source: int, size: int, kind: int, stream: Any = None) -> None:
    """So many bytes from one address to another; `kind` as CUDA counts: 1 to the device, 2 to the host, 3 on the
    device."""

    def move(*_: Any) -> Any:
        ctypes.memmove(into, source, size)
        return _at(into, size)

    with stream or streams.current():
        if kind == 1:
            pinned = _is_locked(source)
            calls.copy_in("cupy.cuda.MemoryPointer.copy_from_host", move, pinned, pinned and stream is not None)
        elif kind == 2:
            pinned = _is_locked(into)
            array, out = shared.quietly(_at, source, size), shared.quietly(_at, into, size)
            calls.copy_out("cupy.cuda.MemoryPointer.copy_to_host", array, out, stream is not None, pinned)
        else:
            calls.run("cupy.cuda.MemoryPointer.copy_from_device", move, (shared.quietly(_at, source, size),), {})


class PinnedMemoryPointer(bytearray):
    """Page-locked memory of the host."""

    def __init__(self, size: int) -> None:
        super().__init__(max(1, -(-size // _UNIT)) * _UNIT)
        self.mem = Memory(self.ptr, len(self), None)
        _locked.append(weakref.ref(self, _locked.remove))

    @property
    def ptr(self) -> int:
        return int(shared.quietly(np.frombuffer, self, np.uint8).__array_interface__["data"][0])

    def size(self) -> int:
        return len(self)

    def __repr__(self) -> str:
        return f"<PinnedMemoryPointer {hex(self.ptr)}>"


_locked: list[weakref.ref[PinnedMemoryPointer]] = []


def _is_locked(address: int) -> bool:
    """Whether an address is in page-locked memory."""
    held = (reference() for reference in list(_locked))
    return any(item is not None and item.mem.ptr <= address < item.mem.ptr + len(item) for item in held)


PinnedMemoryPointer.__module__ = "cupy.cuda.pinned_memory"


class PinnedMemoryPool:
    """The pool of page-locked memory."""

    def __init__(self, allocator: Any = None) -> None:
        pass

    def malloc(self, size: int) -> PinnedMemoryPointer:
        return PinnedMemoryPointer(size)

    def free_all_blocks(self) -> None:
        if self is pinned_pool:
            calls.buffers.clear()

    def n_free_blocks(self) -> int:
        return len(calls.buffers) if self is pinned_pool else 0


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

    return shared.quietly(make)


def zeros_pinned(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    """The same, zeros."""
    return empty_pinned(shape, dtype, order)


def empty_like_pinned(a: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None) -> Any:
    """The same with the shape and type of another array."""
    return empty_pinned(a.shape if shape is None else shape, dtype or a.dtype)


zeros_like_pinned = empty_like_pinned
