"""The arrays that a ported script has: NumPy's class to the script, CuPy's memory, and a fallback for each method."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator
from types import GenericAlias
from typing import Any

import numpy as np

from . import calls, device, values
from .counts import is_users

state = device.state
_SIMPLE = (int, float, bool, complex)
#: What an operator takes as a number or an array; anything else may know better.
_OPERANDS = (*_SIMPLE, np.generic, np.ndarray, list, tuple, str, bytes, type(None))


class _Meta(type):
    """`isinstance(x, np.ndarray)` in the script: of both kinds of arrays."""

    def __instancecheck__(cls, value: Any) -> bool:
        return type.__instancecheck__(cls, value) or (cls is Array and isinstance(value, np.ndarray))


class _Held:
    """What arrays and numbers of the device have in common."""

    __slots__ = ("__weakref__", "_d")
    __array_priority__ = 1000.0
    _d: Any

    dtype = property(lambda self: self._d.dtype)
    ndim = property(lambda self: self._d.ndim)
    size = property(lambda self: self._d.size)
    itemsize = property(lambda self: self._d.itemsize)
    nbytes = property(lambda self: self._d.nbytes)

    def on_device(self) -> Any:
        """CuPy's array."""
        return self._d

    def _host(self, what: str) -> Any:
        return values.to_host(self._d, what)

    # NumPy and other libraries ---------------------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        host = self._host("read by a library")
        return host if dtype is None else host.astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        name, host = f"numpy.{ufunc.__name__}", ufunc if method == "__call__" else getattr(ufunc, method)
        if is_users(sys._getframe(1).f_code.co_filename):
            own = getattr(state.cupy, ufunc.__name__, None)
            if own is not None and method != "__call__":
                own, name = getattr(own, method, None), f"{name}.{method}"
            if isinstance(kwargs.get("out"), tuple) and len(kwargs["out"]) == 1:
                kwargs["out"] = kwargs["out"][0]
            return calls.call(name, own, host, inputs, kwargs)
        return _on_host(f"{name} in a library", host, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        module = getattr(function, "__module__", None) or "numpy"
        name = f"{module}.{function.__name__}"
        if is_users(sys._getframe(1).f_code.co_filename):
            holder = device.part("cupy" + module.removeprefix("numpy")) or state.cupy
            return calls.call(name, getattr(holder, function.__name__, None), function, args, kwargs)
        return _on_host(f"{name} in a library", function, args, kwargs)

    @property
    def __cuda_array_interface__(self) -> Any:
        return self._d.__cuda_array_interface__

    # Numbers ---------------------------------------------------------------------------------------------------------

    def __bool__(self) -> bool:
        return bool(self._host("bool()"))

    def __int__(self) -> int:
        return int(self._host("int()"))

    def __float__(self) -> float:
        return float(self._host("float()"))

    def __complex__(self) -> complex:
        return complex(self._host("complex()"))

    def __index__(self) -> int:
        return operator.index(self._host("index"))

    def __str__(self) -> str:
        return str(self._host("printed"))

    def __repr__(self) -> str:
        return repr(self._host("printed"))

    def __format__(self, spec: str) -> str:
        return format(self._host("printed"), spec)


class Array(_Held, metaclass=_Meta):
    """An array of the device, `numpy.ndarray` to the script."""

    __slots__ = ()
    __module__ = "numpy"
    __hash__ = None  # type: ignore[assignment]

    def __new__(cls, shape: Any, dtype: Any = float, buffer: Any = None, *args: Any, **kwargs: Any) -> Any:
        made = np.ndarray(shape, dtype, buffer, *args, **kwargs)
        return values.Brought("numpy.ndarray").up(made)

    @classmethod
    def of(cls, array: Any) -> Any:
        """The port's array around one of CuPy's."""
        made = object.__new__(cls)
        made._d = array
        return made

    def __class_getitem__(cls, item: Any) -> Any:
        return GenericAlias(np.ndarray, item)

    strides = property(lambda self: self._d.strides)
    flags = property(lambda self: self._d.flags)
    base = property(lambda self: None if self._d.base is None else Array.of(self._d.base))
    data = property(lambda self: self._host("data").data)
    ctypes = property(lambda self: self._host("ctypes").ctypes)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._d.shape  # type: ignore[no-any-return]

    @shape.setter
    def shape(self, shape: Any) -> None:
        self._d = self._d.reshape(shape)

    @property
    def T(self) -> Any:
        return Array.of(self._d.T)

    @property
    def mT(self) -> Any:
        return Array.of(self._d.swapaxes(-1, -2))

    @property
    def real(self) -> Any:
        return Array.of(self._d.real)

    @real.setter
    def real(self, value: Any) -> None:
        Array.of(self._d.real)[...] = value

    @property
    def imag(self) -> Any:
        return Array.of(self._d.imag)

    @imag.setter
    def imag(self, value: Any) -> None:
        Array.of(self._d.imag)[...] = value

    @property
    def flat(self) -> Any:
        return Flat(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        Flat(self)[:] = value

    # Parts -----------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._d)

    def __iter__(self) -> Iterator[Any]:
        if self._d.ndim == 1:
            return iter(self._host("iterated"))  # its numbers, in one copy
        if self._d.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (Array.of(self._d[at]) for at in range(len(self._d)))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __getitem__(self, key: Any) -> Any:
        if _is_element(key, self._d.ndim):
            return calls.call("numpy.ndarray.__getitem__", _element, operator.getitem, (self, key), {})
        keeps = type(key) is tuple and any(part is Ellipsis for part in key) or key is Ellipsis
        found = calls.call("numpy.ndarray.__getitem__", _indexed, operator.getitem, (self, key), {})
        return Array.of(found.on_device()) if keeps and type(found) is Scalar else found

    def __setitem__(self, key: Any, value: Any) -> None:
        if type(value) in (list, tuple):
            value = np.asarray(values.Brought("numpy.ndarray.__setitem__").host(value))
        calls.call("numpy.ndarray.__setitem__", _set, operator.setitem, (self, key, value), {})

    def __copy__(self) -> Any:
        return Array.of(self._d.copy())

    def __deepcopy__(self, memo: Any) -> Any:
        return Array.of(self._d.copy())

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._host("pickled").__reduce_ex__(protocol)

    # To the host -----------------------------------------------------------------------------------------------------

    def item(self, *args: Any) -> Any:
        return self._host("item()").item(*args)

    def tolist(self) -> Any:
        return self._host("tolist()").tolist()

    def tobytes(self, *args: Any, **kwargs: Any) -> bytes:
        return self._host("tobytes()").tobytes(*args, **kwargs)  # type: ignore[no-any-return]

    def tofile(self, *args: Any, **kwargs: Any) -> None:
        self._host("tofile()").tofile(*args, **kwargs)

    def dump(self, file: Any) -> None:
        self._host("dump()").dump(file)

    def dumps(self) -> bytes:
        return self._host("dumps()").dumps()  # type: ignore[no-any-return]

    def setflags(self, *args: Any, **kwargs: Any) -> None:
        pass  # CuPy's arrays can always be written to

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")


class Scalar(_Held):
    """A number that CuPy left on the device: read when the script needs it, and by its class one of NumPy's."""

    __slots__ = ("known",)
    known: Any

    @classmethod
    def of(cls, array: Any) -> Any:
        """The number in one of CuPy's arrays without dims; what happens to that array later is no matter of its."""
        made = object.__new__(cls)
        made._d, made.known = array, None
        return made

    shape = property(lambda self: ())

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self._d.dtype.type

    def _host(self, what: str) -> Any:
        if self.known is None:
            self.known = values.to_host(self._d, what)[()]
        return self.known

    def read(self) -> Any:
        """The number on the host."""
        return self._host("read")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.read(), dtype)

    def __hash__(self) -> int:
        return hash(self.read())

    def __round__(self, *digits: Any) -> Any:
        return round(self.read(), *digits)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.read().__reduce_ex__(protocol)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __getitem__(self, key: Any) -> Any:
        return values.Brought("numpy.ndarray.__getitem__").up(self.read()[key])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.read(), name)


class Flat:
    """`a.flat`: the elements in order."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def _view(self) -> Any:
        return Array.of(self._array._d.ravel())

    def __len__(self) -> int:
        return self._array.size  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._array._host("iterated").flat)

    def __getitem__(self, key: Any) -> Any:
        return self._view()[key].copy() if isinstance(key, slice) else self._view()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        view = self._view()
        if isinstance(key, slice):
            size = len(range(*key.indices(len(self))))
            value = np.resize(np.asarray(values.Brought("numpy.ndarray.flat").host(value)), size)
        view[key] = value
        if not self._array._d.flags.c_contiguous:
            self._array._d[...] = view._d.reshape(self._array._d.shape)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self._array._host("read by a library").ravel(), dtype)


def _on_host(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What a library does with arrays of the device: on the host, with results that stay there."""
    brought = values.Brought(name)
    host_args = tuple(brought.host(arg) for arg in args)
    host_kwargs = {key: brought.host(arg) for key, arg in kwargs.items()}
    result = function(*host_args, **host_kwargs)
    outs = host_kwargs.get("out")
    for out in outs if isinstance(outs, tuple) else (outs,):
        brought.write_back(out)
    return result


def _is_element(key: Any, ndim: int) -> bool:
    if type(key) is int:
        return ndim == 1
    return type(key) is tuple and len(key) == ndim and all(isinstance(part, (int, np.integer)) for part in key)


def _element(array: Any, key: Any) -> Any:
    """One element: a number of the host's, as the script will look at it."""
    return values.to_host(array[_plain(key)], "one element")[()]


def _plain(key: Any) -> Any:
    """An index without numbers that are on the device: CuPy takes those for arrays."""
    if isinstance(key, tuple):
        return tuple(map(_plain, key))
    if isinstance(key, state.ndarray) and key.ndim == 0:
        return state.cupy.asnumpy(key)[()]
    return key


def _indexed(array: Any, key: Any) -> Any:
    found = array[_plain(key)]
    # CuPy gives an element as a view, NumPy as a number that stays what it was.
    return found.copy() if found.ndim == 0 and array.ndim else found


def _set(array: Any, key: Any, value: Any) -> None:
    if isinstance(value, np.generic):
        value = value.item() if value.dtype.kind in "biufc" else value
    array[_plain(key)] = value


# Operators and methods, from tables ----------------------------------------------------------------------------------

_TWO = (
    "add:add sub:subtract mul:multiply truediv:true_divide floordiv:floor_divide mod:remainder pow:power "
    "matmul:matmul lshift:left_shift rshift:right_shift and_:bitwise_and or_:bitwise_or xor:bitwise_xor"
)
_COMPARED = "lt:less le:less_equal gt:greater ge:greater_equal eq:equal ne:not_equal"
_ONE = "neg:negative pos:positive abs:absolute invert:invert"


def _operand(value: Any) -> Any:
    """Another operand as an array or a number; NotImplemented where it may know better what to do."""
    kind = type(value)
    if kind in _SIMPLE or kind is Array or kind is Scalar:
        return value
    if not isinstance(value, _OPERANDS):
        return value if hasattr(value, "__array__") and not hasattr(value, "__array_ufunc__") else NotImplemented
    if kind is list or kind is tuple:
        return np.asarray(values.Brought("a list").host(value))
    return value


def _binary(name: str, function: Callable[..., Any], swapped: bool) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        other = _operand(other)
        if other is NotImplemented:
            return NotImplemented
        return calls.call(name, function, function, (other, self) if swapped else (self, other), {})

    return method


def _in_place(name: str, function: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    def changed(array: Any, other: Any) -> Any:
        if function is operator.imatmul:  # CuPy makes a new array of `a @= b`
            array[...] = plain(array, other)
            return array
        return function(array, other)

    def method(self: Any, other: Any) -> Any:
        if type(self) is Scalar:
            return plain(self, other)  # numbers do not change
        other = _operand(other)
        if other is NotImplemented:
            return NotImplemented
        calls.call(name, changed, function, (self, other), {})
        return self

    return method


def _unary(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self: calls.call(name, function, function, (self,), {})


def _method(name: str) -> Callable[..., Any]:
    def function(array: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(array, name)(*args, **kwargs)

    full = f"numpy.ndarray.{name}"

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return calls.call(full, function, function, (self, *args), kwargs)

    method.__name__, method.__qualname__ = name, f"ndarray.{name}"
    return method


def _fill() -> None:
    for short, long in (pair.split(":") for pair in _TWO.split()):
        plain, name = getattr(operator, short), f"numpy.{long}"
        base = short.rstrip("_")
        setattr(_Held, f"__{base}__", _binary(name, plain, False))
        setattr(_Held, f"__r{base}__", _binary(name, plain, True))
        full = f"numpy.ndarray.__i{base}__"
        setattr(_Held, f"__i{base}__", _in_place(full, getattr(operator, f"i{base}"), plain))
        calls.IN_PLACE[full] = 0
    for short, long in (pair.split(":") for pair in _COMPARED.split()):
        setattr(_Held, f"__{short}__", _binary(f"numpy.{long}", getattr(operator, short), False))
    for short, long in (pair.split(":") for pair in _ONE.split()):
        setattr(_Held, f"__{short}__", _unary(f"numpy.{long}", getattr(operator, short)))
    setattr(_Held, "__divmod__", _binary("numpy.divmod", divmod, False))
    setattr(_Held, "__rdivmod__", _binary("numpy.divmod", divmod, True))
    for name in dir(np.ndarray):
        if not name.startswith("_") and not hasattr(Array, name) and callable(getattr(np.ndarray, name)):
            setattr(Array, name, _method(name))
    Scalar.__hash__ = lambda self: hash(self.read())  # type: ignore[method-assign]
    Array.__name__ = Array.__qualname__ = "ndarray"
    state.array, state.scalar = Array, Scalar


_fill()
