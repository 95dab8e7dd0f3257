"""SciPy's sparse matrices in a ported script: those of `cupyx.scipy.sparse`, with a fallback for each method."""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable
from typing import Any

from . import calls, device, values

state = device.state
_PLAIN = frozenset("shape dtype nnz ndim size format has_sorted_indices has_canonical_format".split())
_ARRAYS = frozenset("data indices indptr row col offsets".split())


class Sparse:
    """A sparse matrix of the device."""

    __array_ufunc__ = None  # an array on the other side of an operator leaves it to the matrix
    __slots__ = ("__weakref__", "_d")
    _d: Any

    @classmethod
    def of(cls, matrix: Any) -> Any:
        """The port's matrix around one of CuPy's."""
        made = object.__new__(Sparse)
        made._d = matrix
        return made

    def __len__(self) -> int:
        raise TypeError("sparse matrix length is ambiguous; use getnnz()")

    def __getitem__(self, key: Any) -> Any:
        found = calls.call("scipy.sparse.__getitem__", operator.getitem, operator.getitem, (self, key), {})
        return found.read() if type(found) is state.scalar else found

    def __setitem__(self, key: Any, value: Any) -> None:
        calls.call("scipy.sparse.__setitem__", operator.setitem, operator.setitem, (self, key, value), {})

    @property
    def T(self) -> Any:
        return self.transpose()

    def __repr__(self) -> str:
        return repr(values.sparse_to_host(self._d, "printed"))

    def __str__(self) -> str:
        return str(values.sparse_to_host(self._d, "printed"))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return values.sparse_to_host(self._d, "pickled").__reduce_ex__(protocol)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _PLAIN:
            return getattr(self._d, name)
        if name in _ARRAYS:
            return values.wrapped(getattr(self._d, name))
        found = _method(name)
        return lambda *args, **kwargs: calls.call(f"scipy.sparse.{name}", found, found, (self, *args), kwargs)


def _method(name: str) -> Callable[..., Any]:
    return lambda matrix, *args, **kwargs: getattr(matrix, name)(*args, **kwargs)


def _binary(name: str, function: Callable[..., Any], swapped: bool) -> Callable[..., Any]:
    full = f"scipy.sparse.{name}"
    return lambda self, other: calls.call(full, function, function, (other, self) if swapped else (self, other), {})


class _Kind(type):
    """Classes of matrices as the script knows them: called they make one, and `isinstance` asks for the format."""

    real: Any
    own: Any

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = calls.call(f"scipy.sparse.{cls.__name__}", cls.own, cls.real, args, kwargs)
        return made if type(made) is Sparse or not values.is_sparse(made) else values.Brought(cls.__name__).up(made)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls.real) or (type(value) is Sparse and value.format == cls.__name__.split("_")[0])


def kinds() -> dict[str, Any]:
    """The script's classes by name."""
    real = importlib.import_module("scipy.sparse")
    own = device.part("cupyx.scipy.sparse")
    names = [f"{name}_matrix" for name in values.SPARSE]
    return {
        name: _Kind(name, (), {"real": getattr(real, name), "own": getattr(own, name, None), "__module__": "scipy"})
        for name in names
    }


def is_sparse(value: Any) -> bool:
    """`scipy.sparse.issparse` of both."""
    return type(value) is Sparse or bool(importlib.import_module("scipy.sparse").issparse(value))


def _fill() -> None:
    for name in "add sub mul truediv matmul pow".split():
        plain = getattr(operator, name)
        setattr(Sparse, f"__{name}__", _binary(name, plain, False))
        setattr(Sparse, f"__r{name}__", _binary(name, plain, True))
    for name in "lt le gt ge eq ne".split():
        setattr(Sparse, f"__{name}__", _binary(name, getattr(operator, name), False))
    for name in "neg abs".split():
        setattr(Sparse, f"__{name}__", _one(name))
    calls.IN_PLACE["scipy.sparse.__setitem__"] = 0
    for name in "sort_indices sum_duplicates eliminate_zeros setdiag resize".split():
        calls.IN_PLACE[f"scipy.sparse.{name}"] = 0
    state.sparse = Sparse


def _one(name: str) -> Callable[..., Any]:
    plain = getattr(operator, name)
    return lambda self: calls.call(f"scipy.sparse.{name}", plain, plain, (self,), {})


_fill()
