"""What brings arrays to the device, makes them there, and takes them back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import calls, shared
from ..memory import pointers
from .ndarray import ndarray


def array(
    obj: Any,
    dtype: Any = None,
    copy: bool = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> Any:
    """A new array of the device."""
    return _array("cupy.array", obj, dtype, copy, order, ndmin, blocking)


def unpickled(obj: Any, *args: Any, **kwargs: Any) -> Any:
    """`cupy._core.core.array`: what pickles of arrays name, CuPy's own and those that are made here."""
    return array(obj, *args, **kwargs)


unpickled.__name__ = "array"


def asarray(
    a: Any, dtype: Any = None, order: str | None = None, *, copy: Any = None, blocking: bool = False, **kwargs: Any
) -> Any:
    """The same array where it is on the device already."""
    return _array("cupy.asarray", a, dtype, bool(copy), order or "K", 0, blocking)


def asanyarray(a: Any, dtype: Any = None, order: str | None = None, *, blocking: bool = False) -> Any:
    """As `asarray`."""
    return _array("cupy.asanyarray", a, dtype, False, order or "K", 0, blocking)


def ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    """Rows without gaps."""
    return _array("cupy.ascontiguousarray", a, dtype, False, "C", 1, False)


def asfortranarray(a: Any, dtype: Any = None) -> Any:
    """Columns without gaps."""
    return _array("cupy.asfortranarray", a, dtype, False, "F", 1, False)


def _array(name: str, obj: Any, dtype: Any, copy: bool, order: str, ndmin: int, blocking: bool) -> Any:
    if dtype is not None:
        calls.refuse_dtype(np.dtype(dtype))
    if calls.is_device(obj):
        same = (dtype is None or obj.dtype == np.dtype(dtype)) and obj.ndim >= ndmin
        laid = order not in ("C", "F") or obj.flags[f"{order}_CONTIGUOUS"]
        if same and laid and not copy:
            return obj
        return calls.call("cupy.copy", np.array, (obj, dtype), {"order": order, "ndmin": ndmin})
    if type(obj) in (list, tuple) and (devices := _devices(obj)):
        stacked = calls.call("cupy.stack", np.array, (devices, dtype), {})
        return stacked
    if (told := getattr(obj, "__cuda_array_interface__", None)) is not None:
        return _of_interface(told, obj)
    if hasattr(obj, "__dlpack__") and not isinstance(obj, np.ndarray) and obj.__dlpack_device__()[0] != 1:
        return from_dlpack(obj)
    pinned = isinstance(obj, np.ndarray) and pointers.is_pinned(obj)

    def make() -> Any:
        return np.array(obj, dtype, order=order, ndmin=ndmin)  # type: ignore[call-overload]

    return ndarray._of(calls.copy_in(name, make, pinned, not blocking))


def _devices(items: Any) -> Any:
    """The same nested lists of plain arrays, where every leaf is an array of the device; else None."""
    if not items:
        return None
    if all(calls.is_device(item) for item in items):
        return list(items)
    if all(type(item) in (list, tuple) for item in items):
        inner = [_devices(item) for item in items]
        return inner if all(inner) else None
    return None


def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True) -> Any:
    """The values as an array of the host."""
    if not calls.is_device(a):
        if hasattr(a, "get") and hasattr(a, "_breakeven_sparse"):
            return a.get()
        host = np.asarray(a, order=order)  # type: ignore[call-overload]
        if out is None:
            return host
        out[...] = host
        return out
    if stream is None and out is None:
        return calls.copy_out("cupy.asnumpy", a._a, order=order)
    return a.get(stream, order, out, blocking)


def _of_interface(told: dict[str, Any], owner: Any) -> Any:
    """The memory that another object of the device tells of, not copied, however its elements lie there."""
    lent = shared.quietly(np.asarray, _Lent(told, owner))
    made = object.__new__(ndarray)
    made._a, made._block = lent, pointers.UnownedMemory(told["data"][0], lent.nbytes, owner)
    return made


class _Lent:
    """Memory of another's, which lives as long as an array of it, and may be written."""

    def __init__(self, told: dict[str, Any], owner: Any) -> None:
        self._owner = owner
        words = {name: told[name] for name in ("shape", "typestr", "strides", "descr") if told.get(name) is not None}
        self.__array_interface__ = {**words, "data": (told["data"][0], False), "version": 3}


def from_dlpack(x: Any, **kwargs: Any) -> Any:
    """An array of another library that is on the device."""
    if not hasattr(x, "__dlpack__"):  # a capsule, once `toDlpack` of an array of ours
        return _of_capsule(x)
    if calls.is_device(x):
        return x.view()
    if x.__dlpack_device__()[0] == 1:
        raise TypeError(
            "CPU arrays cannot be directly imported to CuPy. Use `cupy.array(numpy.from_dlpack(input))` instead."
        )
    return _of_capsule(x.__dlpack__())


def _of_capsule(capsule: Any) -> Any:
    found = shared.quietly(np.from_dlpack, _Capsule(capsule))
    if found.size:  # NumPy writes into no array whose capsule does not say that it may
        found = shared.quietly(np.asarray, _Lent(found.__array_interface__, found))
    return ndarray._of(found)


class _Capsule:
    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class NpzFile:
    """Several arrays in a file: each is copied to the device when it is asked for."""

    def __init__(self, npz_file: Any) -> None:
        self.npz_file = npz_file

    def __getitem__(self, name: str) -> Any:
        return ndarray._of(calls.copy_in("cupy.load", lambda: np.array(self.npz_file[name])))

    def __enter__(self) -> NpzFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self.npz_file.close()


def _from_host(name: str, public: str) -> Callable[..., Any]:
    """A function of NumPy's that makes an array of what the host has."""

    def make(*args: Any, **kwargs: Any) -> Any:
        return ndarray._of(calls.copy_in(public, lambda: np.array(getattr(np, name)(*args, **kwargs))))

    make.__name__ = name
    return make


frombuffer = _from_host("frombuffer", "cupy.frombuffer")
fromfile = _from_host("fromfile", "cupy.load")
fromiter = _from_host("fromiter", "cupy.array")
fromstring = _from_host("fromstring", "cupy.array")
genfromtxt = _from_host("genfromtxt", "cupy.load")
loadtxt = _from_host("loadtxt", "cupy.load")


def load(file: Any, mmap_mode: Any = None, allow_pickle: Any = None) -> Any:
    """From a file."""
    found = shared.quietly(np.load, file, mmap_mode)
    return (
        NpzFile(found) if hasattr(found, "files") else ndarray._of(calls.copy_in("cupy.load", lambda: np.array(found)))
    )


def _on_host(value: Any) -> Any:
    return value.get() if calls.is_device(value) else value


def save(file: Any, arr: Any, allow_pickle: Any = None) -> None:
    """To a file."""
    np.save(file, _on_host(arr))


def savez(file: Any, *args: Any, **kwds: Any) -> None:
    """Several to a file."""
    np.savez(file, *map(_on_host, args), **{name: _on_host(value) for name, value in kwds.items()})


def savez_compressed(file: Any, *args: Any, **kwds: Any) -> None:
    """The same, compressed."""
    np.savez_compressed(file, *map(_on_host, args), **{name: _on_host(value) for name, value in kwds.items()})


def savetxt(fname: Any, X: Any, *args: Any, **kwargs: Any) -> None:
    """To text."""
    np.savetxt(fname, _on_host(X), *args, **kwargs)


def array_repr(a: Any, *args: Any, **kwargs: Any) -> str:
    """As NumPy shows it."""
    return np.array_repr(_on_host(a), *args, **kwargs)


def array_str(a: Any, *args: Any, **kwargs: Any) -> str:
    """As NumPy prints it."""
    return np.array_str(_on_host(a), *args, **kwargs)


def array2string(a: Any, *args: Any, **kwargs: Any) -> str:
    """As NumPy prints it."""
    return np.array2string(_on_host(a), *args, **kwargs)


def format_float_positional(x: Any, *args: Any, **kwargs: Any) -> str:
    """A number without an exponent."""
    return np.format_float_positional(_on_host(x), *args, **kwargs)


def format_float_scientific(x: Any, *args: Any, **kwargs: Any) -> str:
    """A number with an exponent."""
    return np.format_float_scientific(_on_host(x), *args, **kwargs)


def get_array_module(*args: Any) -> Any:
    """`cupy` where one of the arguments is of the device, else `numpy`."""
    import sys

    found = any(calls.is_device(item) or hasattr(item, "_breakeven_sparse") for item in args)
    return sys.modules["cupy"] if found else np


def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays may lie in the same memory."""
    return bool(shared.quietly(np.may_share_memory, calls.plain(a), calls.plain(b)))


def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays lie in the same memory."""
    return bool(shared.quietly(np.shares_memory, calls.plain(a), calls.plain(b)))


shared.state.array, shared.state.asarray = array, asarray
