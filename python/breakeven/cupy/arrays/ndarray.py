"""`cupy.ndarray`: NumPy's array in a wrapper that lets nothing cross to the host unasked."""

from __future__ import annotations

import gc
import importlib
import pickle
from collections.abc import Callable, Iterator
from types import GenericAlias
from typing import Any

import numpy as np

from ...process import dlpack
from ..core import calls, catalogue, devices, frameless, pools, refusals, sends, shared, signatures, streams, waits
from ..memory import pointers
from . import functions, iterate

_IMPLICIT = (
    "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array explicitly."
)

_IN_PLACE = "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape."


class ndarray:
    """An array of the device."""

    __slots__ = ("__weakref__", "_a", "_block")
    __array_priority__ = 100
    __module__ = "cupy"
    _a: Any
    _block: Any

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        self = object.__new__(cls)
        self._begin(*args, **kwargs)
        if cls is not ndarray:
            self.__array_finalize__(None)
        return self

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass  # as in CuPy, so that a class made of this one may take other arguments

    def __array_finalize__(self, obj: Any) -> None:
        pass

    def _begin(self, shape: Any, dtype: Any = float, memptr: Any = None, strides: Any = None, order: str = "C") -> None:
        calls.refuse_dtype(np.dtype(dtype))
        if memptr is None:
            self._a = calls.run("cupy.empty", np.empty, (shape, dtype), {"order": order})
        else:
            self._a = shared.quietly(np.ndarray, shape, dtype, memptr.bytes(), 0, strides, order)
        self._block = pools.block(self._a) if memptr is None else memptr.mem

    @classmethod
    def _of(cls, array: Any) -> Any:
        self = object.__new__(ndarray)
        self._a = array
        self._block = pools.block(array)
        return self

    def _like(self, seen: Any) -> Any:
        """A view of this array as one of its class, if that is made of CuPy's."""
        kind = type(self)
        if kind is ndarray:
            return seen
        made = object.__new__(kind)
        made._a, made._block = seen._a, seen._block
        made.__array_finalize__(self)
        return made

    # What it is ------------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        return self._a.shape  # type: ignore[no-any-return]

    @shape.setter
    def shape(self, shape: Any) -> None:
        seen = shared.quietly(self._a.reshape, shape)
        if seen.size and not np.may_share_memory(seen, self._a):
            raise AttributeError(_IN_PLACE)
        self._a = seen

    @property
    def base(self) -> Any:
        """The array whose memory this one is a view of: the program's own object, while that lives."""
        if self._a.base is None:
            return None
        owner = pools.owner(self._a)
        holders = (item for item in gc.get_referrers(owner) if isinstance(item, ndarray) and item._a is owner)
        return next(holders, ndarray._of(owner))

    @property
    def data(self) -> pointers.MemoryPointer:
        return pointers.MemoryPointer.of(self._a)

    @property
    def device(self) -> devices.Device:
        return devices.Device(0)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self._a.__array_interface__, "version": 3, "stream": 1}

    @property
    def flat(self) -> iterate.flatiter:
        return iterate.flatiter(self)

    @property
    def real(self) -> Any:
        return ndarray._of(self._a.real) if self._a.dtype.kind == "c" else self

    @real.setter
    def real(self, value: Any) -> None:
        ndarray._of(self._a.real)[...] = value

    @property
    def imag(self) -> Any:
        return ndarray._of(self._a.imag)

    @imag.setter
    def imag(self, value: Any) -> None:
        if self._a.dtype.kind != "c":
            raise TypeError("cupy.ndarray does not have imaginary part to set")
        ndarray._of(self._a.imag)[...] = value

    def __len__(self) -> int:
        return len(self._a)

    __hash__ = None  # type: ignore[assignment]
    __class_getitem__: Any = classmethod(GenericAlias)

    # To the host -----------------------------------------------------------------------------------------------------

    def get(self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True) -> Any:
        """The values as an array of the host."""
        if out is not None and not isinstance(out, np.ndarray):
            raise TypeError(f"Only numpy.ndarray can be obtained from cupy.ndarray, not {type(out)}")
        if out is not None and out.shape != self._a.shape:
            raise ValueError(f"Shape mismatch. Expected shape: {self._a.shape}, actual shape: {out.shape}")
        if out is not None and out.dtype != self._a.dtype:
            raise TypeError(f"{out.dtype} array cannot be obtained from {self._a.dtype} array")
        if out is not None and not (out.flags.c_contiguous or out.flags.f_contiguous):
            raise RuntimeError("`out` cannot be specified when copying to non-contiguous ndarray")
        pinned = out is not None and pointers.is_pinned(out)
        with stream if stream is not None else streams.current():
            return calls.copy_out("cupy.ndarray.get", self._a, out, not blocking, pinned, order)

    def set(self, arr: Any, stream: Any = None) -> None:
        """Fill with the values of an array of the host."""
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if self._a.dtype != arr.dtype:
            raise TypeError(f"{arr.dtype} array cannot be set to {self._a.dtype} array")
        if self._a.shape != arr.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self._a.shape}, new shape: {arr.shape}")
        if not (self._a.flags.c_contiguous or self._a.flags.f_contiguous):
            raise RuntimeError("Cannot set to non-contiguous array")

        def fill() -> Any:
            self._a[...] = arr
            return self._a

        with stream if stream is not None else streams.current():
            pinned = pointers.is_pinned(arr)
            calls.copy_in("cupy.ndarray.set", fill, pinned, pinned)

    def item(self) -> Any:
        if self._a.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        calls.read(self._a)
        return shared.quietly(self._a.item)

    def tolist(self) -> Any:
        return shared.quietly(self.get().tolist)

    def tobytes(self, order: str = "C") -> bytes:
        return shared.quietly(self.get().tobytes, order)  # type: ignore[no-any-return]

    def __bytes__(self) -> bytes:
        return bytes(self.get())

    def tofile(self, fid: Any, sep: str = "", format: str = "%s") -> None:
        self.get().tofile(fid, sep, format)

    def dump(self, file: Any) -> None:
        pickle.dump(self, file, -1)

    def dumps(self) -> bytes:
        return pickle.dumps(self, -1)

    def __float__(self) -> float:
        return float(self._scalar())

    def __int__(self) -> int:
        return int(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def __bool__(self) -> bool:
        calls.refuse_in_fusion()
        if self._a.size != 1:
            return self._a.size != 0 and bool(shared.quietly(bool, self._a))
        return bool(self.item())

    def _scalar(self) -> Any:
        if self._a.ndim != 0:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return self.item()

    def __repr__(self) -> str:
        return shared.quietly(repr, self.get())  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return shared.quietly(str, self.get())  # type: ignore[no-any-return]

    def __format__(self, text: str) -> str:
        value = self.get()
        return shared.quietly(format, value[()] if value.ndim == 0 else value, text)  # type: ignore[no-any-return]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(_IMPLICIT)

    def __reduce__(self) -> Any:
        return importlib.import_module("cupy._core.core").array, (self.get(),)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, *, stream: Any = None, **options: Any) -> Any:
        if stream is None and "max_version" in options:  # it is NumPy that asks
            raise BufferError("Unsupported device in DLTensor.")
        return dlpack.of_gpu(shared.quietly(self._a.__dlpack__))

    def toDlpack(self) -> Any:
        return self.__dlpack__()

    # NumPy's functions on it -----------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        own = catalogue.numpys("numpy", ufunc.__name__) or catalogue.numpys("scipy.special", ufunc.__name__)
        if own is None:
            return NotImplemented
        out = kwargs.get("out")
        if isinstance(out, tuple) and len(out) == 1:
            if not calls.is_device(out[0]):
                raise TypeError("return arrays must be of ArrayType")
            kwargs["out"] = out[0]
        if ufunc.__name__ in _COMPARISONS:
            inputs = tuple(map(_number, inputs))
        return own(*inputs, **kwargs) if method == "__call__" else getattr(own, method)(*inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        own = catalogue.numpys(func.__module__ or "numpy", func.__name__)
        if own is None or any(not issubclass(kind, (ndarray, np.ndarray)) for kind in types):
            return NotImplemented
        return own(*args, **kwargs)

    # Parts -----------------------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        index, masked = _index(key)
        name = "cupy.extract" if masked else "cupy.ndarray.__getitem__"

        def pick(a: Any, *_: Any) -> Any:
            nonlocal index
            try:
                found = a[index]
            except IndexError:
                found = a[index := _inside(index, a.shape)]
            if isinstance(found, np.ndarray):
                return found
            # NumPy gives an element itself; on the device it stays a view.
            return a[index + (...,)] if isinstance(index, tuple) else a[index, ...]

        chosen = calls.arrays(_listed(index))
        result = ndarray._of(calls.run(name, pick, (self._a, *chosen), {}, {}))
        return result if chosen else self._like(result)

    def __setitem__(self, key: Any, value: Any) -> None:
        index, masked = _index(key)
        region = _listed(index)
        among = calls.arrays(region)
        plain = _put(value, self._a.dtype if among else None)

        def put(a: Any, *_: Any) -> Any:
            nonlocal index
            try:
                a[index] = plain
            except IndexError:
                a[index := _inside(index, a.shape)] = plain
            return () if among else a[index]

        values = (plain,) if isinstance(plain, np.ndarray) else ()
        calls.run("cupy.ndarray.__setitem__", put, (self._a, *among, *values), {}, {})
        if masked:
            calls.read(waits.TOLD)  # how many elements it chooses

    def __delitem__(self, key: Any) -> None:
        raise NotImplementedError("Subscript deletion not supported by ndarray")

    def __iter__(self) -> Iterator[Any]:
        if self._a.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self._a)))

    def astype(
        self, dtype: Any, order: str = "K", casting: str = "unsafe", subok: Any = None, copy: bool = True
    ) -> Any:
        calls.refuse_dtype(np.dtype(dtype))
        if not copy and self._a.dtype == np.dtype(dtype):
            return self
        return calls.call(
            "cupy.ndarray.astype", _method("astype"), (self, dtype), {"order": order, "casting": casting, "copy": copy}
        )

    def view(self, dtype: Any = None, array_class: Any = None) -> Any:
        if isinstance(dtype, type) and issubclass(dtype, ndarray):
            dtype, array_class = None, dtype
        if array_class is not None:
            seen = object.__new__(array_class)
            seen._a, seen._block = self._a if dtype is None else shared.quietly(self._a.view, dtype), self._block
            seen.__array_finalize__(self)
            return seen
        return self._like(
            calls.call("cupy.ndarray.view", _method("view"), (self,) if dtype is None else (self, dtype), {})
        )

    def fill(self, value: Any) -> None:
        given = value if calls.is_device(value) else _put(value, None)
        calls.call("cupy.ndarray.fill", _method("fill"), (self, given), {})

    def take(self, indices: Any, axis: int | None = None, out: Any = None) -> Any:
        if isinstance(indices, (list, tuple, np.ndarray)):
            indices = ndarray._of(calls.copy_in("cupy.array", lambda: _places(indices)))
        words = {"axis": axis, "mode": "wrap", "out": out}
        return calls.call("cupy.ndarray.take", _method("take"), (self, indices), words)

    def ptp(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        return calls.call("cupy.ptp", np.ptp, (self, axis), {"out": out, "keepdims": keepdims})

    def argmax(self, axis: Any = None, out: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        return self._place("argmax", axis, out, dtype, keepdims)

    def argmin(self, axis: Any = None, out: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        return self._place("argmin", axis, out, dtype, keepdims)

    def _place(self, name: str, axis: Any, out: Any, dtype: Any, keepdims: bool) -> Any:
        def find(a: Any, axis: Any, keepdims: bool, out: Any = None) -> Any:
            found = np.asarray(getattr(a, name)(axis, keepdims=keepdims)).astype(dtype or np.intp, copy=False)
            if out is None:
                return found
            out[...] = found
            return out

        calls.refuse_as_whole(axis)
        words = {"axis": axis, "keepdims": keepdims, **({} if out is None else {"out": out})}
        return calls.call(f"cupy.ndarray.{name}", find, (self,), words)

    def nonzero(self) -> Any:
        return calls.call("cupy.ndarray.nonzero", _method("nonzero"), (self,), {})

    def reduced_view(self, dtype: Any = None) -> Any:
        return self

    def scatter_add(self, slices: Any, value: Any) -> None:
        self._scatter("cupyx.scatter_add", slices, value, np.add)

    def scatter_max(self, slices: Any, value: Any) -> None:
        self._scatter("cupyx.scatter_max", slices, value, np.maximum)

    def scatter_min(self, slices: Any, value: Any) -> None:
        self._scatter("cupyx.scatter_min", slices, value, np.minimum)

    def _scatter(self, name: str, slices: Any, value: Any, ufunc: Any) -> None:
        index, _ = _index(slices)
        given = _brought(value, self.dtype)
        calls.run(name, _at(ufunc, index), (self._a, *calls.arrays(_listed(index)), given), {}, {})

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def __getattr__(self, name: str) -> Any:
        raise catalogue.absent("cupy.ndarray", name, "'ndarray' object")


shared.state.ndarray = ndarray
#: What takes an array of the host without dims as a number, because NumPy makes such of its numbers to compare them.
_COMPARISONS = frozenset("equal not_equal less less_equal greater greater_equal".split())
#: Methods with the parameters of the function of their name.
_REDUCTIONS = frozenset("all any max mean min prod std sum var".split())
#: Methods whose first argument is an axis, several, or a shape; and those of which all are.
_OF_AXES = _REDUCTIONS | frozenset("argsort cumprod cumsum reshape sort squeeze swapaxes transpose".split())
_WHOLLY = frozenset("reshape swapaxes transpose".split())
#: Methods that look at the same memory, and keep the class of an array.
_VIEWS = frozenset("diagonal ravel reshape squeeze swapaxes transpose".split())


class Flags:
    """How an array lies in memory; CuPy tells no more of it."""

    def __init__(self, array: Any) -> None:
        self.c_contiguous, self.f_contiguous = array.flags.c_contiguous, array.flags.f_contiguous
        self.owndata = array.base is None
        self.fnc = self.f_contiguous and not self.c_contiguous
        self.forc = self.f_contiguous or self.c_contiguous

    def __getitem__(self, name: str) -> bool:
        short = {"C": "C_CONTIGUOUS", "F": "F_CONTIGUOUS", "O": "OWNDATA"}.get(name, name).lower()
        if short not in ("c_contiguous", "f_contiguous", "owndata"):
            raise KeyError(f"{name} is not defined for cupy.ndarray.flags")
        return bool(getattr(self, short))

    def __repr__(self) -> str:
        return f"  C_CONTIGUOUS : {self.c_contiguous}\n  F_CONTIGUOUS : {self.f_contiguous}\n  OWNDATA : {self.owndata}"


def _number(value: Any) -> Any:
    return value.item() if type(value) is np.ndarray and value.ndim == 0 else value


def _put(value: Any, chosen: Any) -> Any:
    """What may be put into a device array: of the host only a number.

    But where arrays choose places, in an array of the type `chosen`, also a list or an array, which is copied.
    """
    if chosen is not None:
        return _brought(value, chosen)
    if type(value) in (list, tuple):
        value = np.asarray(calls.plain(value))
    value = calls.as_ours(value)
    if calls.is_device(value):
        return value._a
    if isinstance(value, np.ndarray):
        if value.ndim:
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        value = value[()]
    if not (
        isinstance(value, (int, float, complex)) or (isinstance(value, np.generic) and value.dtype.kind in "biufcV")
    ):
        raise TypeError(f"Unsupported type {type(value)}")
    return value


def _brought(value: Any, dtype: Any) -> Any:
    """A plain array of the device with what the host has, of this type; numbers stay what they are."""
    if not isinstance(value, (list, tuple, np.ndarray)):
        return calls.plain(value)
    return shared.state.array(value, dtype)._a


def _at(ufunc: Any, index: Any) -> Callable[..., Any]:
    def at(a: Any, *rest: Any) -> Any:
        try:
            ufunc.at(a, index, rest[-1])
        except IndexError:
            ufunc.at(a, _inside(index, a.shape), rest[-1])
        return ()

    return at


def _listed(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _index(key: Any) -> tuple[Any, bool]:
    """NumPy's form of a key, and whether it holds truth values. Arrays of the host and lists are copied in."""
    masked = False

    def one(part: Any) -> Any:
        nonlocal masked
        if isinstance(part, slice):
            return slice(*map(_bound, (part.start, part.stop, part.step)))
        part = calls.as_ours(part)
        if calls.is_device(part):
            part = part._a
        elif isinstance(part, (list, np.ndarray)):
            host = part
            part = calls.copy_in("cupy.array", lambda: _places(host))
        if isinstance(part, np.ndarray):
            if part.dtype.kind not in "iub":
                raise IndexError(
                    f"arrays used as indices must be of integer or boolean type. (actual: {part.dtype.type})"
                )
            masked |= part.dtype.kind == "b"
        return part

    if isinstance(key, tuple):
        return tuple(one(part) for part in key), masked
    return one(key), masked


def _bound(value: Any) -> Any:
    """An end of a slice; one on the device is read."""
    return int(value) if calls.is_device(value) else value


def _inside(index: Any, shape: tuple[int, ...]) -> Any:
    """The same index with places beyond the end of an axis counted on from its begin, as CuPy's kernels do."""
    parts = _listed(index)
    used = sum(1 for part in parts if part is not None and part is not Ellipsis)
    used += sum(part.ndim - 1 for part in parts if isinstance(part, np.ndarray) and part.dtype.kind == "b")
    axis, inside = 0, []
    for part in parts:
        if isinstance(part, np.ndarray) and part.ndim and part.dtype.kind in "iu" and axis < len(shape) and shape[axis]:
            part = part % shape[axis]
        inside.append(part)
        if part is Ellipsis:
            axis += len(shape) - used
        elif part is not None:
            axis += part.ndim if isinstance(part, np.ndarray) and part.dtype.kind == "b" else 1
    return tuple(inside)


def _places(host: Any) -> Any:
    array = np.array([calls.plain(item) for item in host] if isinstance(host, list) else host)
    return array.astype(np.intp) if array.size == 0 and array.dtype.kind == "f" else array


def _method(name: str) -> Callable[..., Any]:
    def method(a: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(a, name)(*args, **kwargs)

    return method


def _add_attributes() -> None:
    def attribute(name: str) -> property:
        return property(lambda self: getattr(self._a, name))

    for name in ("dtype", "ndim", "size", "nbytes", "itemsize", "strides"):
        setattr(ndarray, name, attribute(name))
    ndarray.flags = property(lambda self: Flags(self._a))  # type: ignore[attr-defined]
    for name in ("T", "mT"):

        def transposed(self: Any, name: str = name) -> Any:
            return self._like(
                calls.wrapped(calls.run("cupy.ndarray.transpose", lambda a: getattr(a, name), (self._a,), {}))
            )

        setattr(ndarray, name, property(transposed))


def _add_methods() -> None:
    names = (
        "all any argpartition argsort choose clip compress conj conjugate copy cumprod cumsum diagonal dot "
        "flatten max mean min partition prod put ravel repeat reshape round searchsorted sort squeeze std sum "
        "swapaxes trace transpose var byteswap"
    )

    def add(name: str) -> None:
        function, public = _method(name), f"cupy.ndarray.{name}"
        fits = signatures.checker(f"cupy.{name}") if name in _REDUCTIONS else None

        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            given = (self, *args)
            if fits is not None:
                fits(given, kwargs)
            if name in _OF_AXES:
                for value in (*(args if name in _WHOLLY else args[:1]), kwargs.get("axis")):
                    calls.refuse_as_whole(value)
            refusals.method(name, self._a)
            given, kwargs = sends.brought(f"cupy.{name}", given, kwargs)
            found = calls.call(public, function, given, kwargs)
            return self._like(found) if name in _VIEWS else found

        method.__name__ = name
        method.__qualname__ = f"ndarray.{name}"
        setattr(ndarray, name, method)

    for name in names.split():
        add(name)


def _add_operators() -> None:
    two = (
        "add:add sub:subtract mul:multiply truediv:true_divide floordiv:floor_divide mod:remainder pow:power "
        "matmul:matmul lshift:left_shift rshift:right_shift and:bitwise_and or:bitwise_or xor:bitwise_xor "
        "divmod:divmod"
    )
    compare = "lt:less le:less_equal gt:greater ge:greater_equal eq:equal ne:not_equal"
    one = "neg:negative pos:positive abs:absolute invert:invert"

    def binary(name: str, ufunc: Any, swapped: bool) -> Callable[..., Any]:
        def method(self: Any, other: Any) -> Any:
            if getattr(other, "__array_ufunc__", ufunc) is None:
                return NotImplemented  # an array of another kind that knows better, such as a sparse matrix
            if ufunc.__name__ in _COMPARISONS:
                other = _number(other)
            if type(other) in refusals.NO_OPERANDS:
                refusals.operand(name.removeprefix("cupy."), *((other, self) if swapped else (self, other)), swapped)
            return calls.call(name, ufunc, (other, self) if swapped else (self, other), {})

        return method

    def in_place(name: str, ufunc: Any) -> Callable[..., Any]:
        def method(self: Any, other: Any) -> Any:
            return calls.call(name, ufunc, (self, other), {"out": self})

        return method

    def unary(name: str, ufunc: Any) -> Callable[..., Any]:
        def method(self: Any) -> Any:
            return calls.call(name, ufunc, (self,), {})

        return method

    def named(operation: str) -> tuple[str, str, Any]:
        short, _, long = operation.partition(":")
        return short, f"cupy.{long}", functions.power if long == "power" else getattr(np, long)

    for short, name, ufunc in map(named, two.split()):
        setattr(ndarray, f"__{short}__", binary(name, ufunc, False))
        setattr(ndarray, f"__r{short}__", binary(name, ufunc, True))
        if short not in ("divmod", "matmul"):  # CuPy makes a new array of `a @= b`
            setattr(ndarray, f"__i{short}__", in_place(name, ufunc))
    for short, name, ufunc in map(named, compare.split()):
        setattr(ndarray, f"__{short}__", binary(name, ufunc, False))
    for short, name, ufunc in map(named, one.split()):
        setattr(ndarray, f"__{short}__", unary(name, ufunc))


_add_attributes()
_add_methods()
_add_operators()
frameless.methods(ndarray)
