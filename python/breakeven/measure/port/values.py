"""Values on their way: the user's to the device or the host, and back. Every copy is counted."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import FunctionType, LambdaType, MethodType
from typing import Any

import numpy as np

from . import device
from .counts import counts

state = device.state
#: Lists are looked into so far: what is an array among a million of numbers is found in the first of them.
FIRST = 64
_FUNCTIONS = (FunctionType, LambdaType, MethodType)
#: Sparse matrices that CuPy has, by SciPy's format.
SPARSE = ("csr", "csc", "coo", "dia")


class Unsupported(TypeError):
    """CuPy has no such type of elements."""


def holds(dtype: Any) -> bool:
    """Whether CuPy has arrays of such elements."""
    return dtype.kind in "biufc" and dtype.itemsize <= (16 if dtype.kind == "c" else 8) and dtype.isnative


def to_device(host: Any, what: str = "argument") -> Any:
    """CuPy's array with the values of one of the host; raises Unsupported."""
    if not holds(host.dtype):
        raise Unsupported(f"CuPy has no {host.dtype}")
    began = time.perf_counter()
    made = state.cupy.asarray(host)
    if host.ndim:
        counts.copied("h2d", what, host.nbytes, time.perf_counter() - began)
    return made


def to_host(array: Any, what: str) -> Any:
    """NumPy's array with the values of one of the device."""
    device.wait()
    began = time.perf_counter()
    host = state.cupy.asnumpy(array)
    counts.copied("d2h", what, host.nbytes, time.perf_counter() - began)
    return host


def is_sparse(value: Any) -> bool:
    """Whether it is one of SciPy's sparse matrices that CuPy has as well (its sparse arrays are not among them)."""
    kind = type(value)
    return kind.__module__.startswith("scipy.sparse") and kind.__name__ in {f"{name}_matrix" for name in SPARSE}


def sparse_to_device(host: Any, what: str) -> Any:
    """CuPy's sparse matrix with the values of SciPy's."""
    module = device.part("cupyx.scipy.sparse")
    if module is None or not holds(host.dtype) or host.dtype.kind in "iu":
        raise Unsupported(f"CuPy has no sparse matrix of {host.dtype}")
    began = time.perf_counter()
    made = getattr(module, f"{host.format}_matrix")(host)
    counts.copied("h2d", what, _sparse_bytes(host), time.perf_counter() - began)
    return made


def sparse_to_host(matrix: Any, what: str) -> Any:
    """SciPy's sparse matrix with the values of CuPy's."""
    device.wait()
    began = time.perf_counter()
    host = matrix.get()
    counts.copied("d2h", what, _sparse_bytes(host), time.perf_counter() - began)
    return host


def _sparse_bytes(host: Any) -> int:
    parts = (getattr(host, name, None) for name in ("data", "indices", "indptr", "row", "col", "offsets"))
    return sum(int(part.nbytes) for part in parts if part is not None)


NOTHING, HOST, DEVICE = 0, 1, 2


def survey(values: Any, deep: int = 3) -> int:
    """Whether there are arrays of the device, or else of the host, among the values."""
    found = NOTHING
    for value in values:
        kind = type(value)
        if kind is state.array or kind is state.sparse or isinstance(value, state.ndarray):
            return DEVICE
        if kind is state.scalar:
            if value.known is None:
                return DEVICE
            continue  # the host has read it
        if isinstance(value, np.ndarray) or (kind.__module__.startswith("scipy.sparse") and is_sparse(value)):
            found = HOST
        elif (kind is list or kind is tuple) and deep and value:
            inner = survey(value[:FIRST], deep - 1)
            if inner == DEVICE:
                return DEVICE
            found = max(found, inner)
    return found


def down(value: Any) -> Any:
    """A value as CuPy's functions take it: arrays of the host are copied in; raises Unsupported."""
    kind = type(value)
    if kind is state.array or kind is state.sparse:
        return value._d
    if kind is state.scalar:
        return value.on_device()
    if isinstance(value, np.ndarray):
        return to_device(value)
    if kind is list:
        return [down(item) for item in value] if survey(value[:FIRST]) else value
    if kind is tuple:
        return tuple(down(item) for item in value)
    if kind is slice:
        return slice(_number(value.start), _number(value.stop), _number(value.step))
    if kind in _FUNCTIONS:
        return _of_device(value)
    if kind.__module__.startswith("scipy.sparse") and is_sparse(value):
        return sparse_to_device(value, "argument")
    return value


def _number(value: Any) -> Any:
    return value.read() if type(value) is state.scalar else value


def _of_device(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the user's that CuPy calls: it gets the port's arrays."""

    def called(*args: Any, **kwargs: Any) -> Any:
        return down(function(*(wrapped(arg) for arg in args), **kwargs))

    return called


class Brought:
    """Values as NumPy's functions take them. What was copied out can be found again, and written back."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.bytes = 0
        self._owners: dict[int, tuple[Any, Any]] = {}

    def host(self, value: Any) -> Any:
        """The value on the host; the same array twice is copied once."""
        kind = type(value)
        if kind is state.array:
            for host, owner in self._owners.values():
                if owner is value:
                    return host
            host = to_host(value._d, self.what)
            if not host.flags.writeable:
                host = host.copy()
            self.bytes += host.nbytes
            self._owners[id(host)] = host, value
            return host
        if kind is state.scalar:
            return value.read()
        if kind is state.sparse:
            matrix = sparse_to_host(value._d, self.what)
            self.bytes += _sparse_bytes(matrix)
            self._owners[id(matrix)] = matrix, value
            return matrix
        if isinstance(value, state.ndarray):
            return to_host(value, self.what)
        if kind is list:
            return [self.host(item) for item in value] if survey(value[:FIRST]) else value
        if kind is tuple:
            return tuple(self.host(item) for item in value)
        if kind is dict:
            return {name: self.host(item) for name, item in value.items()}
        if kind is slice:
            return slice(_number(value.start), _number(value.stop), _number(value.step))
        return value

    def write_back(self, host: Any) -> None:
        """What NumPy changed in place, into the array of the device."""
        found = self._owners.get(id(host))
        if found is None:
            return
        owner = found[1]
        if type(owner) is state.sparse:
            owner._d = sparse_to_device(host, f"{self.what}, in place")
            return
        made = to_device(host, f"{self.what}, in place")
        self.bytes += host.nbytes
        if made.shape == owner._d.shape:
            owner._d[...] = made
        else:
            owner._d = made

    def up(self, value: Any) -> Any:
        """A result of NumPy's as the user gets it: arrays are copied to the device, but those that came from there."""
        kind = type(value)
        if kind is np.ndarray:
            found = self._owners.get(id(value))
            if found is not None:
                return found[1]
            if not holds(value.dtype):
                return value
            self.bytes += value.nbytes
            return state.array.of(to_device(value, f"{self.what}, result"))
        if kind is list or kind is tuple:
            return kind(self.up(item) for item in value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return kind(*(self.up(item) for item in value))
        if kind is dict:
            return {name: self.up(item) for name, item in value.items()}
        if kind.__module__.startswith("scipy.sparse") and is_sparse(value):
            try:
                return state.sparse.of(sparse_to_device(value, f"{self.what}, result"))
            except Unsupported:
                return value
        return value


def wrapped(value: Any, keeps: bool = False) -> Any:
    """A result of CuPy's as the user gets it; one without dims as a number, unless NumPy `keeps` an array of it."""
    kind = type(value)
    if isinstance(value, state.ndarray):
        return state.scalar.of(value) if value.ndim == 0 and not keeps else state.array.of(value)
    if kind is list or kind is tuple:
        return kind(wrapped(item, keeps) for item in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind(*(wrapped(item, keeps) for item in value))
    if kind.__module__.startswith("cupyx.scipy.sparse") or hasattr(value, "has_canonical_format"):
        return state.sparse.of(value)
    return value
