"""NumPy's and SciPy's functions under CuPy's names: one wrapper for all, and tables of those that differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import calls, errors, footprints, frameless, refusals, sends, shared, signatures
from . import backend

#: Answered on the host, without the device.
ON_HOST = frozenset(
    "AxisError base_repr binary_repr broadcast_shapes can_cast common_type dtype errstate finfo "
    "get_printoptions iinfo index_exp iscomplexobj isdtype isfortran isrealobj isscalar issubdtype "
    "mintypecode min_scalar_type ndim ndindex newaxis printoptions promote_types result_type s_ set_printoptions shape "
    "show_config size typename typecodes fftfreq_host next_fast_len who".split()
)
#: Asked with Python functions, which get device arrays.
_WITH_FUNCTIONS = frozenset(["apply_along_axis", "apply_over_axes", "fromfunction"])
#: These take arrays of the host, too: of some only the shape and type count, others are copied.
_LIKE = frozenset(["empty_like", "full_like", "ones_like", "zeros_like"])
_COPYING = frozenset(["cupy.linalg.norm", "cupy.linalg.cond", "cupy.allclose", "cupy.random.choice"])
#: Of NumPy a Python truth value, of CuPy an array on the device.
_TRUTHS = frozenset(["allclose", "array_equal", "array_equiv"])
#: What later versions of NumPy call by another name, and CuPy by both.
ALIASES = {
    "Inf": "inf", "infty": "inf", "Infinity": "inf", "NaN": "nan", "NAN": "nan", "alltrue": "all", "product": "prod",
    "cumproduct": "cumprod", "sometrue": "any", "in1d": "isin", "row_stack": "vstack", "trapz": "trapezoid",
    "round_": "round", "bool8": "bool_", "complex_": "complex128", "float_": "float64", "cfloat": "complex128",
    "singlecomplex": "complex64", "unicode_": "str_", "string_": "bytes_", "acos": "arccos", "asin": "arcsin",
    "atan": "arctan", "acosh": "arccosh", "asinh": "arcsinh", "atanh": "arctanh", "atan2": "arctan2",
    "concat": "concatenate", "permute_dims": "transpose", "pow": "power", "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift", "bitwise_invert": "invert", "float96": "float64", "fix": "trunc",
}  # fmt: skip
#: Values that no version of NumPy may have.
CONSTANTS = {"PINF": float("inf"), "NINF": float("-inf"), "PZERO": 0.0, "NZERO": -0.0}


def power(base: Any, exponent: Any, **kwargs: Any) -> Any:
    """NumPy refuses whole numbers to negative powers; CuPy rounds what comes towards zero."""
    try:
        return np.power(base, exponent, **kwargs)
    except ValueError:
        with np.errstate(all="ignore"):
            found = np.power(np.asarray(base, float), exponent)
        return np.where(np.isfinite(found), found, 0).astype(np.result_type(base, exponent))


#: The ufuncs that have a method at all in CuPy; each has `outer`.
_METHODS_OF = {
    "reduce": ("add", "multiply"), "accumulate": ("add", "multiply"), "reduceat": ("add",),
    "at": ("add", "subtract", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor"),
}  # fmt: skip


class ufunc:
    """A universal function of the device."""

    __module__ = "cupy"

    def __init__(self, name: str, function: Any, computed: Any = None) -> None:
        self._name = name
        self._function = function
        self._computed = computed or function
        self.__name__ = function.__name__
        self.name = f"cupy_{function.__name__}"
        self.nin, self.nout, self.nargs = function.nin, function.nout, function.nargs
        self.types = function.types
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) > self.nin:
            given = (*args[self.nin :], *(None,) * (self.nargs - len(args)))
            kwargs = {**kwargs, "out": given[0] if self.nout == 1 else given}
            args = args[: self.nin]
        for arg in args:
            if type(arg) in (list, tuple, str):
                raise TypeError(f"Unsupported type {type(arg)}")
        if strange := {name: word for name, word in kwargs.items() if name not in ("out", "dtype", "casting")}:
            raise TypeError(f"Wrong arguments {strange}")
        out = kwargs.get("out", calls)
        if out is None or (isinstance(out, tuple) and all(item is None for item in out)):
            kwargs = {name: word for name, word in kwargs.items() if name != "out"}
        return calls.call(self._name, self._computed, args, kwargs)

    def reduce(self, array: Any, *args: Any, **kwargs: Any) -> Any:
        return self._method("reduce", (array, *args), kwargs)

    def accumulate(self, array: Any, *args: Any, **kwargs: Any) -> Any:
        return self._method("accumulate", (array, *args), kwargs)

    def reduceat(self, array: Any, indices: Any, *args: Any, **kwargs: Any) -> Any:
        return self._method("reduceat", (array, indices, *args), kwargs)

    def outer(self, A: Any, B: Any, **kwargs: Any) -> Any:
        return self._method("outer", (A, B), kwargs)

    def at(self, a: Any, indices: Any, b: Any = None) -> None:
        if self.__name__ not in _METHODS_OF["at"]:
            raise NotImplementedError(f"`{self.name}.at` is not supported yet")
        a._scatter(f"{self._name}.at", indices, b, self._function)

    def _method(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if method != "outer" and self.__name__ not in _METHODS_OF.get(method, ()):
            raise NotImplementedError(f"`{self.name}.{method}` is not supported yet")
        return calls.call(f"{self._name}.{method}", getattr(self._function, method), args, kwargs)

    def __reduce__(self) -> Any:
        return self._name.removeprefix("cupy.")

    def __repr__(self) -> str:
        return f"<ufunc {self.name!r}>"


frameless.methods(ufunc)


class _Index:
    """`r_`, `c_`, `mgrid`, `ogrid`: arrays made by an index."""

    def __init__(self, name: str, value: Any) -> None:
        self._name, self._value = name, value

    def __getitem__(self, key: Any) -> Any:
        if self._name == "cupy.concatenate" and any(
            isinstance(part, slice) for part in (key if isinstance(key, tuple) else (key,))
        ):
            raise NotImplementedError
        return calls.wrapped(
            calls.run(self._name, lambda _: self._value[calls.plain(key)], (calls.plain(key),), {}, {})
        )


#: What arrays made by an index are, as functions.
_INDEXED = {"r_": "concatenate", "c_": "concatenate", "mgrid": "meshgrid", "ogrid": "arange"}


def wrapped(module: str, name: str, value: Any) -> Any:
    """What NumPy or SciPy has under a name, for the device."""
    public = f"{module}.{name}"
    if name in _INDEXED and module == "cupy":
        return _Index(f"cupy.{_INDEXED[name]}", value)
    if name == "power" or name == "pow":
        return ufunc(public, value, power)
    if isinstance(value, np.ufunc):
        return ufunc(public, value)
    if name in ON_HOST:
        return _on_host(value) if callable(value) and not isinstance(value, type) else value
    if isinstance(value, type) or not callable(value):
        return value
    if module == "cupy.linalg" and name in errors.CHANGED:
        return _function(public, errors.CHANGED[name](value), value)
    if public in errors.SCIPYS:
        return _function(public, errors.SCIPYS[public](value), value)
    if module in ("cupyx.scipy.fft", "cupyx.scipy.fftpack"):
        return _function(public, backend.by_scipy(value), value)
    if module == "cupy" and name == "isclose":
        return _function(public, value, value, one_kernel=True)
    if module == "cupy" and name == "allclose":
        return _all_close
    if module == "cupy" and name == "diag":
        return _diagonal(_function(public, value, value))
    if module == "cupy" and name == "linspace":
        return _spaced(_function(public, value, value))
    if module == "cupy" and name in _BRINGING:
        return _function(public, value, value, _BRINGING[name])
    if name in _TRUTHS:
        return _function(public, lambda *args, **kwargs: np.asarray(value(*args, **kwargs)), value)
    if name in _WITH_FUNCTIONS:
        return _function(public, value, value, _bridged)
    return _function(public, value, value)


def _in_one_kernel(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What NumPy does in many steps and CuPy in one."""
    plain, words = calls.plain(args), calls.plain(kwargs)
    told: dict[str, Any] = {"functions": "two*8"}

    def compute(*values: Any) -> Any:
        found = np.asarray(function(*values, **words))
        told["n"] = found.size
        return found

    return calls.wrapped(calls.run("cupy.ElementwiseKernel", compute, plain, {}, told))


def _all_close(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Whether all elements are close: one kernel, and a reduction."""
    import sys

    a, b = (calls.wrapped(calls.copied_in(item)) if isinstance(item, np.ndarray) else item for item in (a, b))
    return sys.modules["cupy"].isclose(a, b, rtol, atol, equal_nan).all()


_all_close.__name__ = "allclose"


def _on_device(value: Any) -> Any:
    import sys

    return sys.modules["cupy"].asarray(value)


def _each_on_device(values: Any) -> Any:
    return [_on_device(value) for value in values] if type(values) in (list, tuple) else _on_device(values)


def _operand_on_device(value: Any) -> Any:
    return _on_device(value) if isinstance(value, np.ndarray) else value


def _numbers(value: Any) -> Any:
    """A shape, or one number, that an array of the host tells."""
    if not isinstance(value, np.ndarray):
        return value
    return value.reshape(-1)[0] if value.size == 1 else tuple(value.tolist())


#: Functions that bring what they get to the device, or of a list each item; or read on the host what they get.
_BRINGING = {
    "einsum": _operand_on_device,
    **dict.fromkeys(("zeros", "ones", "empty", "full", "copyto"), _numbers),
    **dict.fromkeys(("atleast_1d", "atleast_2d", "atleast_3d"), _on_device),
    **dict.fromkeys(("vstack", "hstack", "dstack"), _each_on_device),
}


def _diagonal(of_device: Callable[..., Any]) -> Callable[..., Any]:
    """`diag`, which copies of a matrix of the host only the diagonal."""

    def diag(v: Any, k: int = 0) -> Any:
        if calls.is_device(v):
            return of_device(v, k)
        host = shared.quietly(np.asarray, v)
        if host.ndim == 2:
            return _on_device(shared.quietly(host.diagonal, k))
        return of_device(_on_device(host), k)

    diag.__doc__ = of_device.__doc__
    return diag


def _spaced(of_device: Callable[..., Any]) -> Callable[..., Any]:
    """`linspace`, whose step between two numbers the host knows."""

    def linspace(start: Any, stop: Any, *args: Any, **kwargs: Any) -> Any:
        found = of_device(start, stop, *args, **kwargs)
        if type(found) is tuple and np.isscalar(start) and np.isscalar(stop):
            return found[0], shared.quietly(found[1]._a.item)
        return found

    linspace.__doc__ = of_device.__doc__
    return linspace


def _function(
    public: str,
    function: Callable[..., Any],
    like: Any,
    prepared: Callable[[Any], Any] | None = None,
    one_kernel: bool = False,
) -> Callable[..., Any]:
    short = public.removeprefix("cupy.")
    method = refusals.METHODS.get(short)
    fits = signatures.checker(public)
    refused = refusals.any_of(public)
    like, copying = short in _LIKE, public in _COPYING
    looks, has_footprint = public in sends.LOOKED_AT, public in footprints.NAMES
    whole = signatures.whole(public)
    solves = public.startswith("cupy.linalg.")
    sends_some, of_scipy = public in sends.NAMES, public.startswith(("cupyx.scipy.interpolate", "cupyx.scipy.signal"))

    def call(*args: Any, **kwargs: Any) -> Any:
        if fits is not None:
            fits(args, kwargs)
        for place, word in whole:
            calls.refuse_as_whole(args[place] if len(args) > place else kwargs.get(word))
        if method is not None and args and not calls.is_device(args[0]):
            return method(*args, **kwargs)
        if refused:
            refusals.check(public, args, kwargs, calls.is_device)
        if like and args and isinstance(args[0], np.ndarray):
            host, *others = args
            return calls.call(public, lambda *rest, **words: function(host, *rest, **words), tuple(others), kwargs)
        if copying:
            args = tuple(calls.wrapped(calls.copied_in(arg)) if isinstance(arg, np.ndarray) else arg for arg in args)
        if prepared is not None:
            args = tuple(prepared(arg) for arg in args)
        if looks:
            args, kwargs = sends.look(public, args, kwargs)
        if has_footprint:
            args, kwargs = footprints.settled(public, args, kwargs)
        if sends_some:
            for size in sends.sent(public, args, kwargs):
                calls.copy_in("cupy.array", lambda: np.zeros(size, np.uint8))
        args, kwargs = sends.brought(public, args, kwargs)
        if one_kernel:
            return _in_one_kernel(function, args, kwargs)
        result = calls.call(public, function, args, kwargs)
        if solves:
            errors.ask(call.__name__, args, kwargs)
        return _of_device(result) if of_scipy else result

    call.__name__ = call.__qualname__ = public.rpartition(".")[2]
    call.__module__ = public.rpartition(".")[0]
    call.__doc__ = like.__doc__
    return call


def held(module: str, name: str, kind: type) -> type:
    """A class of SciPy's for arrays of the device: what it is made of, is asked and gives are such."""
    public = f"{module}.{name}"

    class Held:
        __doc__ = kind.__doc__
        _breakeven_held = True

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            def make(*plain: Any, **words: Any) -> Any:
                self._made = kind(*plain, **words)
                return ()

            args, kwargs = sends.brought(public, args, kwargs)
            calls.run(public, make, calls.plain(args), calls.plain(kwargs))

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            called = f"{public}.__call__"
            args, kwargs = sends.brought(called, args, kwargs)
            return calls.call(called, self._made, args, kwargs)

        def __getattr__(self, asked: str) -> Any:
            if asked.startswith("_"):
                raise AttributeError(f"{name!r} object has no attribute {asked!r}")
            value = shared.quietly(getattr, self._made, asked)
            if not callable(value):
                return calls.wrapped(calls.on_device(value))
            return _function(f"{public}.{asked}", value, value)

    Held.__name__ = Held.__qualname__ = name
    Held.__module__ = module
    _HELD[kind] = Held
    return Held


_HELD: dict[type, Any] = {}


def _of_device(value: Any) -> Any:
    """An object of SciPy's as what holds arrays of the device."""
    kind = type(value)
    if not kind.__module__.startswith("scipy."):
        return value
    made = _HELD.get(kind) or held(f"cupyx.{kind.__module__.rpartition('._')[0]}", kind.__name__, kind)
    fresh = object.__new__(made)
    fresh._made = value
    return fresh


def _on_host(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        given = (arg if isinstance(arg, np.ndarray) else calls.plain(arg) for arg in args)
        return shared.quietly(function, *given, **calls.plain(kwargs))

    call.__name__ = call.__qualname__ = function.__name__
    return call


def _bridged(value: Any) -> Any:
    """A function of the program's own, which expects device arrays, as NumPy calls it."""
    if not callable(value) or isinstance(value, type):
        return value

    def bridge(*args: Any, **kwargs: Any) -> Any:
        return calls.plain(value(*calls.wrapped(args), **kwargs))

    return bridge
