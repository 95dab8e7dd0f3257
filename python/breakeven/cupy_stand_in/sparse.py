"""`cupyx.scipy.sparse`: SciPy's matrices in a wrapper, their products told as what they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import calls

_FORMATS = ("csr", "csc", "coo", "dia")


def _scipy() -> Any:
    import scipy.sparse

    return scipy.sparse


class Sparse:
    """A sparse matrix of the device."""

    __array_ufunc__ = None
    __module__ = "cupyx.scipy.sparse"
    _breakeven_sparse = True
    _form = "csr"
    _kind = "matrix"
    _m: Any

    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False) -> None:
        make = getattr(_scipy(), f"{self._form}_{self._kind}")
        if isinstance(arg1, Sparse):
            self._m = calls.quietly(make, arg1._m, shape, dtype, True)
        elif hasattr(arg1, "tocsr") and not calls.is_device(arg1):
            self._m = calls.quietly(make, arg1, shape, dtype, True)
            for part in _parts(self._m):
                calls.copy_in("cupy.array", part.copy)
        else:
            self._m = calls.quietly(make, calls.plain(arg1), shape, dtype, True)
        if self._m.dtype.kind not in "bfc":
            raise ValueError("Only bool, float32, float64, complex64 and complex128 are supported")

    @staticmethod
    def _of(matrix: Any) -> Any:
        kind = "array" if type(matrix).__name__.endswith("array") else "matrix"
        self = object.__new__(CLASSES.get(f"{matrix.format}_{kind}", Sparse))
        self._m = matrix
        return self

    def get(self, stream: Any = None) -> Any:
        """SciPy's matrix on the host."""
        for part in _parts(self._m):
            calls.copy_out("cupy.ndarray.get", part)
        return calls.quietly(self._m.copy)

    def _product(self, name: str, function: Callable[[Any], Any], other: Any) -> Any:
        inner = other._m if isinstance(other, Sparse) else calls.plain(other)
        if not isinstance(inner, np.ndarray) and not hasattr(inner, "tocsr"):
            return _result(calls.quietly(function, inner))
        parts = _parts(calls.quietly(self._m.tocsr))
        operand = _parts(calls.quietly(inner.tocsr)) if hasattr(inner, "tocsr") else (inner,)
        found: list[Any] = []

        def compute(*_: Any) -> Any:
            found.append(function(inner))
            return found[0] if isinstance(found[0], np.ndarray) else ()

        calls.run(name, compute, (*parts, *operand), {}, {})
        return _result(found[0])

    def dot(self, other: Any) -> Any:
        return self._product("cupyx.scipy.sparse.csr_matvec", self._m.dot, other)

    def __matmul__(self, other: Any) -> Any:
        return self.dot(other)

    def __rmatmul__(self, other: Any) -> Any:
        return self._product("cupyx.scipy.sparse.csr_matvec", lambda inner: inner @ self._m, other)

    def __mul__(self, other: Any) -> Any:
        if self._kind == "matrix":
            return self.dot(other)
        return self._other("__mul__", other)

    def __rmul__(self, other: Any) -> Any:
        return self._other("__rmul__", other)

    def _other(self, name: str, *args: Any) -> Any:
        inner = tuple(arg._m if isinstance(arg, Sparse) else calls.plain(arg) for arg in args)
        return _result(calls.quietly(getattr(self._m, name), *inner))

    def __add__(self, other: Any) -> Any:
        return self._other("__add__", other)

    def __sub__(self, other: Any) -> Any:
        return self._other("__sub__", other)

    def __neg__(self) -> Any:
        return self._other("__neg__")

    def __truediv__(self, other: Any) -> Any:
        return self._other("__truediv__", other)

    def __getitem__(self, key: Any) -> Any:
        inner = calls.plain(key)
        return _result(calls.quietly(lambda: self._m[inner]))

    def __len__(self) -> int:
        raise TypeError("sparse matrix length is ambiguous; use getnnz() or shape[0] or shape[1]")

    def __repr__(self) -> str:
        return calls.quietly(repr, self._m)  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = calls.quietly(getattr, self._m, name)
        if not callable(value):
            return _result(value)

        def method(*args: Any, **kwargs: Any) -> Any:
            return _opaque(f"cupyx.scipy.sparse.{type(self).__name__}.{name}", value, (self, *args), kwargs)

        return method


def _opaque(name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call on sparse matrices as an op of its name; `args` begins with the matrix that it is a method of."""
    inner = tuple(arg._m if isinstance(arg, Sparse) else calls.plain(arg) for arg in args[1:])
    found: list[Any] = []

    def compute(*_: Any) -> Any:
        found.append(function(*inner, **calls.plain(kwargs)))
        return found[0] if isinstance(found[0], np.ndarray) else ()

    calls.run(name, compute, _parts(args[0]._m), {}, {})
    return _result(found[0])


def _parts(matrix: Any) -> tuple[Any, ...]:
    if matrix.format in ("csr", "csc"):
        return matrix.indptr, matrix.indices, matrix.data
    return (matrix.row, matrix.col, matrix.data) if matrix.format == "coo" else (matrix.data,)


def _result(value: Any) -> Any:
    if hasattr(value, "tocsr"):
        return Sparse._of(value)
    if isinstance(value, np.matrix):
        value = np.asarray(value)
    return calls.wrapped(calls.quietly(calls.on_device, value))


CLASSES: dict[str, Any] = {}
for _form in _FORMATS:
    for _kind in ("matrix", "array"):
        CLASSES[f"{_form}_{_kind}"] = type(f"{_form}_{_kind}", (Sparse,), {"_form": _form, "_kind": _kind})


def _function(name: str) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        return _result(calls.quietly(getattr(_scipy(), name), *_inner(args), **_inner(kwargs)))

    function.__name__ = name
    return function


def _inner(value: Any) -> Any:
    if isinstance(value, Sparse):
        return value._m
    if isinstance(value, (list, tuple)):
        return type(value)(_inner(item) for item in value)
    if isinstance(value, dict):
        return {name: _inner(item) for name, item in value.items()}
    return calls.plain(value)


def issparse(x: Any) -> bool:
    """Whether it is a sparse matrix of the device."""
    return isinstance(x, Sparse)


def _is_form(form: str) -> Callable[[Any], bool]:
    return lambda x: isinstance(x, Sparse) and x._m.format == form


def _solver(name: str) -> Callable[..., Any]:
    def solve(A: Any, *args: Any, **kwargs: Any) -> Any:
        import scipy.sparse.linalg

        function = getattr(scipy.sparse.linalg, name)
        if not isinstance(A, Sparse):
            raise TypeError(f"breakeven's stand-in for cupy takes a sparse matrix in {name}, not {type(A)}")
        return _opaque(f"cupyx.scipy.sparse.linalg.{name}", lambda *a, **k: function(A._m, *a, **k), (A, *args), kwargs)

    solve.__name__ = name
    return solve


CONTENTS: dict[str, Any] = {
    **CLASSES,
    "spmatrix": Sparse, "issparse": issparse, "isspmatrix": issparse,
    **{f"isspmatrix_{form}": _is_form(form) for form in _FORMATS},
    **{
        name: _function(name)
        for name in "bmat block_array block_diag diags diags_array eye eye_array find hstack vstack identity kron kronsum "
        "rand random spdiags tril triu".split()
    },
}  # fmt: skip
SOLVERS: dict[str, Any] = {
    name: _solver(name)
    for name in "cg cgs gmres minres bicgstab lsqr lsmr spsolve spsolve_triangular eigsh svds norm lobpcg".split()
}
