"""`numpy` and `scipy` as a ported script sees them: each function goes to CuPy's of the same name, or falls back."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from . import array, calls, device, randoms, sparse, values

state = device.state
#: Parts of NumPy that the script gets as they are: what they compute, they compute on the host.
_AS_THEY_ARE = frozenset(
    f"numpy.{name}"
    for name in "ma testing char strings rec polynomial ctypeslib typing exceptions dtypes core _core compat version "
    "f2py distutils matlib".split()
)
#: Functions that need no array, or only look at one's type.
_ON_HOST = frozenset(
    f"numpy.{name}"
    for name in "can_cast promote_types issubdtype set_printoptions get_printoptions printoptions seterr geterr "
    "seterrcall geterrcall show_config get_include broadcast_shapes typename mintypecode base_repr binary_repr "
    "format_float_positional format_float_scientific min_scalar_type isdtype info lookfor source who test "
    "setbufsize getbufsize show_runtime iterable get_array_wrap errstate".split()
)
_INDEXERS = frozenset(["numpy.mgrid", "numpy.ogrid", "numpy.r_", "numpy.c_"])
_modules: dict[str, Any] = {}
_NOTHING: Any = object()


class PortModule(ModuleType):
    """One of the two packages, or a module in it; its contents are made when they are first asked for."""

    def __init__(self, real: ModuleType) -> None:
        super().__init__(real.__name__, real.__doc__)
        self.__dict__["_real"] = real
        for name in ("__path__", "__file__", "__spec__", "__loader__", "__package__"):
            if hasattr(real, name):
                self.__dict__[name] = getattr(real, name)

    def __getattr__(self, name: str) -> Any:
        real = self.__dict__["_real"]
        found = getattr(real, name)
        if name.startswith("__"):
            return found
        value = _ported(real.__name__, name, found)
        if name not in ("_real",):
            self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_real"])


def module(real: ModuleType) -> Any:
    """What the script gets for a module of NumPy or SciPy."""
    name = real.__name__
    if name in _AS_THEY_ARE or any(name.startswith(f"{other}.") for other in _AS_THEY_ARE):
        return real
    if name not in _modules:
        _modules[name] = PortModule(real)
    return _modules[name]


def _ported(holder: str, name: str, found: Any) -> Any:
    full = f"{holder}.{name}"
    if isinstance(found, ModuleType):
        return module(found) if found.__name__.partition(".")[0] in ("numpy", "scipy") else found
    special = _SPECIAL.get(full, _NOTHING)
    if special is not _NOTHING:
        return special
    if full in _ON_HOST:
        return found
    if holder == "scipy.sparse" and name.endswith("_matrix") and name.removesuffix("_matrix") in values.SPARSE:
        if not _kinds:
            _kinds.update(sparse.kinds())
        return _kinds[name]
    if full in _INDEXERS:
        return _Indexer(full, found)
    if isinstance(found, np.ufunc):
        return Ufunc(full, found)
    if isinstance(found, type) or not callable(found):
        return found
    if holder == "numpy.random":
        return randoms.drawn(full, found)
    return _function(full, found)


def _own(full: str) -> Any:
    """CuPy's function for one of NumPy's or SciPy's; None where it has none."""
    if full in calls.OF_THE_HOST:
        return None
    holder, _, name = full.rpartition(".")
    part = device.part("cupyx." + holder if holder.startswith("scipy") else "cupy" + holder.removeprefix("numpy"))
    return getattr(part, name, None) if part is not None else None


def _function(full: str, real: Callable[..., Any]) -> Callable[..., Any]:
    own = _NOTHING

    def function(*args: Any, **kwargs: Any) -> Any:
        nonlocal own
        if own is _NOTHING:
            own = _own(full)
        return calls.call(full, own, real, args, kwargs)

    try:
        return functools.wraps(real)(function)
    except (AttributeError, TypeError):
        return function


class Ufunc:
    """One of NumPy's universal functions, with its methods."""

    def __init__(self, full: str, real: Any) -> None:
        self._full, self._real, self._made = full, real, _NOTHING

    def _own(self) -> Any:
        if self._made is _NOTHING:
            self._made = _own(self._full)
        return self._made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        nin = self._real.nin
        if len(args) > nin:  # results given by place
            out = args[nin:]
            args, kwargs = args[:nin], {**kwargs, "out": out[0] if len(out) == 1 else out}
        elif isinstance(kwargs.get("out"), tuple) and len(kwargs["out"]) == 1:
            kwargs["out"] = kwargs["out"][0]
        return calls.call(self._full, self._own(), self._real, args, kwargs)

    def _method(self, name: str, args: Any, kwargs: Any) -> Any:
        full = f"{self._full}.{name}"
        return calls.call(full, getattr(self._own(), name, None), getattr(self._real, name), args, kwargs)

    def reduce(self, *args: Any, **kwargs: Any) -> Any:
        return self._method("reduce", args, kwargs)

    def accumulate(self, *args: Any, **kwargs: Any) -> Any:
        return self._method("accumulate", args, kwargs)

    def reduceat(self, *args: Any, **kwargs: Any) -> Any:
        return self._method("reduceat", args, kwargs)

    def outer(self, *args: Any, **kwargs: Any) -> Any:
        return self._method("outer", args, kwargs)

    def at(self, *args: Any, **kwargs: Any) -> Any:
        calls.IN_PLACE.setdefault(f"{self._full}.at", 0)
        return self._method("at", args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def __repr__(self) -> str:
        return repr(self._real)


class _Indexer:
    """`np.mgrid[…]` and its kin: made on the host, and copied."""

    def __init__(self, full: str, real: Any) -> None:
        self._full, self._real = full, real

    def __getitem__(self, key: Any) -> Any:
        brought = values.Brought(self._full)
        return brought.up(self._real[brought.host(key)])


def _is_scalar(value: Any) -> bool:
    return type(value) is state.scalar or bool(np.isscalar(value))


def _random_seed(*args: Any, **kwargs: Any) -> None:
    np.random.seed(*args, **kwargs)


_kinds: dict[str, Any] = {}
_SPECIAL: dict[str, Any] = {
    "numpy.ndarray": array.Array,
    "numpy.isscalar": _is_scalar,
    "numpy.random.default_rng": randoms.default_rng,
    "numpy.random.Generator": randoms.Generator,
    "numpy.random.RandomState": randoms.RandomState,
    "numpy.random.seed": _random_seed,
    "scipy.sparse.issparse": sparse.is_sparse,
    "scipy.sparse.isspmatrix": sparse.is_sparse,
}


def forget() -> None:
    """Begin anew, for another run of the script in this process."""
    _modules.clear()


def show(name: str) -> Any:
    """The module by its name, for a script that imports it."""
    return module(importlib.import_module(name))
