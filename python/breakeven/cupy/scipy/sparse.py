"""`cupyx.scipy.sparse`: SciPy's matrices in a wrapper; what is done to them is told as it runs on the device."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import calls, errors, pools, shared, waits
from ..core.calls import cupy as _cupy
from . import iterative

_FORMATS = ("csr", "csc", "coo", "dia")
_REFUSED = frozenset("device todok tolil tobsr".split())
#: Methods of two matrices that compare them element by element.
_OF_TWO = frozenset("__eq__ __ne__ __gt__ __lt__ __ge__ __le__ maximum minimum".split())
_NO_DTYPE = "Only bool, float32, float64, complex64 and complex128 are supported"


def _scipy() -> Any:
    import scipy.sparse

    return scipy.sparse


class Sparse:
    """A sparse matrix of the device."""

    __array_ufunc__ = None
    __module__ = "cupyx.scipy.sparse"
    __hash__ = None  # type: ignore[assignment]
    _breakeven_sparse = True
    _form = "csr"
    _kind = "matrix"
    _m: Any
    _blocks: list[pools.Block]

    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False) -> None:
        self._hold(_built(self._form, self._kind, arg1, shape, dtype, copy))

    def _hold(self, matrix: Any) -> None:
        if matrix.dtype.char not in "?fdFD":
            raise ValueError(_NO_DTYPE)
        self._m = matrix
        self._blocks = [pools.block(part) for part in _parts(matrix)]

    @staticmethod
    def _of(matrix: Any) -> Any:
        kind = "array" if type(matrix).__name__.endswith("array") else "matrix"
        if matrix.format not in _FORMATS:
            matrix = shared.quietly(matrix.tocsr)
        self = object.__new__(CLASSES[f"{matrix.format}_{kind}"])
        self._hold(matrix)
        return self

    def get(self, stream: Any = None) -> Any:
        """SciPy's matrix on the host."""
        for part in _parts(self._m):
            calls.copy_out("cupy.ndarray.get", part)
        return shared.quietly(self._m.copy)

    def __reduce__(self) -> Any:
        return type(self), (self.get(),)

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def dot(self, other: Any) -> Any:
        if np.isscalar(other) or calls.is_device(other) and other.ndim == 0:
            return _op(self, "__mul__", other)
        if not isinstance(other, (Sparse, shared.state.ndarray)):
            calls.plain(other)
            return NotImplemented
        return _product("cupyx.scipy.sparse.csr_matvec", self._m.__matmul__, self, other)

    def __matmul__(self, other: Any) -> Any:
        if np.isscalar(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self.dot(other)

    def __rmatmul__(self, other: Any) -> Any:
        return _product("cupyx.scipy.sparse.csr_matvec", lambda inner: inner @ self._m, self, other)

    def __mul__(self, other: Any) -> Any:
        return self.dot(other) if self._kind == "matrix" else self.multiply(other)

    def __truediv__(self, other: Any) -> Any:
        if calls.is_device(other) and other.ndim == 0:
            other = other._a[()]
        if not np.isscalar(other):
            return _op(self, "__truediv__", other)
        rows = self if self._m.format == "csr" else self.tocsr()
        dtype = np.result_type(np.float64 if self.dtype == np.float32 else self.dtype, other)
        dtype = dtype if dtype.char in "fdFD" else np.dtype(np.float64)

        def divide() -> Any:
            made = rows._m * np.reciprocal(other, dtype=dtype)
            return made.astype(dtype)

        return opaque(f"cupyx.scipy.sparse.{type(rows).__name__}.__truediv__", divide, (rows,), {})

    def __rmul__(self, other: Any) -> Any:
        return self.__rmatmul__(other) if calls.is_device(other) and other.ndim else _op(self, "__rmul__", other)

    @property
    def A(self) -> Any:
        self._deprecated("A", ".toarray()")
        return self.toarray()

    @property
    def H(self) -> Any:
        self._deprecated("H", ".T.conj()")
        return self.transpose().conj()

    @property
    def mT(self) -> Any:
        return self.transpose()

    def _deprecated(self, name: str, instead: str) -> None:
        if self._kind == "array":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        warnings.warn(f"`spmatrix.{name}` is deprecated; use `{instead}` instead.", DeprecationWarning, stacklevel=3)

    def __getitem__(self, key: Any) -> Any:
        return _op(self, "__getitem__", _places(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        _op(self, "__setitem__", _places(key), value)

    def __len__(self) -> int:
        raise TypeError("sparse array length is ambiguous; use shape[0] or .nnz")

    def __bool__(self) -> bool:
        if self.shape == (1, 1):
            return bool(self.nnz)
        raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all().")

    def __iter__(self) -> Any:
        return (self[at] for at in range(self.shape[0]))

    def __repr__(self) -> str:
        return shared.quietly(repr, self._m)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return str(self.get())

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            shared.quietly(setattr, self._m, name, calls.plain(value))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if name in _REFUSED:
            raise NotImplementedError
        value = shared.quietly(getattr, self._m, name)
        if not callable(value):
            return _result(value)

        def method(*args: Any, **kwargs: Any) -> Any:
            return _op(self, name, *args, **kwargs)

        return method


def _built(form: str, kind: str, given: Any, shape: Any, dtype: Any, copy: bool) -> Any:
    """SciPy's matrix of what CuPy makes one from."""
    make = getattr(_scipy(), f"{form}_{kind}")
    name = f"cupyx.scipy.sparse.{form}_{kind}"
    if isinstance(given, Sparse):
        if given._m.format == form:
            return shared.quietly(make, given._m, shape, dtype, copy)
        matrix = _told(name, lambda: make(given._m, shape, dtype), given)
        calls.read(waits.TOLD)
        return matrix
    if hasattr(given, "tocsr"):
        matrix = shared.quietly(make, given, shape, dtype, True)
        for part in _parts(matrix):
            calls.copy_in("cupy.array", part.copy)
        if form in ("coo", "dia"):
            calls.read(waits.TOLD)  # whether all places are inside
        return matrix
    if isinstance(given, tuple) and all(isinstance(length, (int, np.integer)) for length in given):
        return shared.quietly(make, given, shape, dtype)
    if calls.is_device(given):
        if given.dtype.char not in "?fdFD" and dtype is None:
            raise ValueError(_NO_DTYPE)
        if given.ndim > 2:
            raise ValueError("expected dimension <= 2 array or matrix")
        matrix = _told(name, lambda: make(np.atleast_2d(given._a), shape, dtype), given)
        calls.read(waits.TOLD)  # how many elements are not zero
        return matrix
    if isinstance(given, tuple) and len(given) == 2:
        data, places = given
        if form == "dia":
            data, places = _cupy().atleast_2d(_cupy().asarray(data)), _cupy().asarray(places, "i")
            calls.read(waits.TOLD)
            return shared.quietly(make, (data._a, places._a), shape, dtype)
        return _of_places(make, form, name, data, places, shape, dtype)
    if isinstance(given, tuple) and len(given) == 3 and form in ("csr", "csc"):
        if not all(calls.is_device(part) and part.ndim == 1 for part in given):
            raise ValueError("data, indices, and indptr must be 1-D cupy arrays")
        data, indices, pointers = given
        if len(data) != len(indices):
            raise ValueError("indices and data should have the same size")
        _cupy().stack((pointers[0], pointers[-1])).get()
        return shared.quietly(make, (data._a, indices._a, pointers._a), shape, dtype, copy)
    if form in ("csr", "csc"):
        raise ValueError("Unsupported initializer format")
    raise TypeError("invalid input format")


def _of_places(make: Any, form: str, name: str, data: Any, places: Any, shape: Any, dtype: Any) -> Any:
    """From values, rows and columns: CuPy reads the least and greatest of those."""
    if len(places) != 2:
        raise ValueError("invalid number of coordinate arrays")
    row, col = places
    if not all(calls.is_device(part) and part.ndim == 1 for part in (data, row, col)):
        raise ValueError("row, column, and data arrays must be 1-D")
    if not len(data) == len(row) == len(col):
        raise ValueError("row, column, and data array must all be the same length")
    for part in (row, col):
        if part.dtype.itemsize > 4 and part.size:
            bool(part.min() >= -(2**31)) and bool(part.max() <= 2**31 - 1)
    row, col = row.astype("i", copy=False), col.astype("i", copy=False)
    if data.size:
        rows, columns, *least = _cupy().stack((row.max(), col.max(), row.min(), col.min())).get().tolist()
        if shape is None:
            shape = (rows + 1, columns + 1)
        for axis, most in (("row", rows), ("column", columns)):
            if most >= shape[axis == "column"]:
                raise ValueError(f"{axis} index exceeds matrix dimensions")
        for axis, low in zip(("row", "column"), least):
            if low < 0:
                raise ValueError(f"negative {axis} index found")
    coo = shared.quietly(_scipy().coo_matrix, (data._a, (row._a, col._a)), shape, dtype)
    if form == "coo":
        return shared.quietly(make, coo)
    matrix = _told(name, lambda: make(coo), data, row, col)
    calls.read(waits.TOLD)  # whether places occur twice
    return matrix


def _told(name: str, function: Callable[[], Any], *operands: Any) -> Any:
    """A sparse matrix of SciPy's made by an op on the operands' arrays."""
    arrays = [part for item in operands for part in (_parts(item._m) if isinstance(item, Sparse) else (item._a,))]
    found: list[Any] = []

    def compute(*_: Any) -> Any:
        found.append(function())
        return _arrays_of(found[0])

    calls.run(name, compute, tuple(arrays), {}, {})
    return found[0]


def _product(name: str, function: Callable[[Any], Any], matrix: Sparse, other: Any) -> Any:
    """A product is told as that of compressed rows, whatever the format."""
    inner = _inner(other)
    operand = _parts(shared.quietly(inner.tocsr)) if hasattr(inner, "tocsr") else (inner,)
    found: list[Any] = []

    def compute(*_: Any) -> Any:
        found.append(function(inner))
        return found[0] if isinstance(found[0], np.ndarray) else ()

    calls.run(name, compute, (*_parts(shared.quietly(matrix._m.tocsr)), *operand), {}, {})
    if hasattr(found[0], "tocsr"):
        calls.read(waits.TOLD)  # how many elements the product has
    return _result(found[0])


def _op(matrix: Sparse, name: str, *args: Any, **kwargs: Any) -> Any:
    """A method of a matrix."""
    public = f"cupyx.scipy.sparse.{type(matrix).__name__}.{name}"
    if name in _OF_TWO and isinstance(args[0], Sparse) and args[0].shape != matrix.shape:
        return opaque(public, _of_both_spread(matrix._m, name), (matrix, *args), kwargs)
    result = opaque(public, getattr(matrix._m, name), (matrix, *args), kwargs)
    if name == "multiply" and isinstance(args[0], Sparse):
        calls.read(waits.TOLD)
    return result


def _of_both_spread(matrix: Any, name: str) -> Callable[[Any], Any]:
    """A method whose operand has another shape: single rows and columns stand for all, which SciPy does not know."""

    def spread(other: Any) -> Any:
        try:
            shape = np.broadcast_shapes(matrix.shape, other.shape)
        except ValueError:
            raise ValueError("inconsistent shape") from None
        times = [np.ones([most // length for most, length in zip(shape, each.shape)]) for each in (matrix, other)]
        whole = [_scipy().kron(one, each, "csr").astype(each.dtype) for one, each in zip(times, (matrix, other))]
        return getattr(whole[0], name)(whole[1])

    return spread


def opaque(name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call on sparse matrices as an op of its name; `args` begins with the matrix that it is a method of."""
    inner, words = _inner(args[1:]), _inner(kwargs)
    found: list[Any] = []

    def compute(*_: Any) -> Any:
        found.append(errors.without_warnings(function)(*inner, **words))
        return _arrays_of(found[0])

    calls.run(name, compute, _all_parts([args, *kwargs.values()]), {}, {})
    if found[0] is NotImplemented:
        return NotImplemented
    return _result(found[0])


def _parts(matrix: Any) -> tuple[Any, ...]:
    if matrix.format in ("csr", "csc", "bsr"):
        return matrix.data, matrix.indices, matrix.indptr
    return (matrix.data, matrix.row, matrix.col) if matrix.format == "coo" else (matrix.data,)


def _all_parts(value: Any) -> tuple[Any, ...]:
    """The plain arrays of all matrices and arrays of the device in nested arguments."""
    if isinstance(value, Sparse):
        return _parts(value._m)
    if calls.is_device(value):
        return (value._a,)
    return tuple(part for item in value for part in _all_parts(item)) if isinstance(value, (list, tuple)) else ()


def _arrays_of(value: Any) -> Any:
    if hasattr(value, "tocsr"):
        return _parts(value) if value.format in _FORMATS else ()
    return value if isinstance(value, np.ndarray) else ()


def _result(value: Any) -> Any:
    if hasattr(value, "tocsr"):
        return Sparse._of(value)
    if isinstance(value, np.matrix):
        value = np.asarray(value)
    if isinstance(value, tuple):
        return tuple(_result(item) for item in value)
    return calls.wrapped(shared.quietly(calls.on_device, value))


def _operator(name: str) -> Callable[..., Any]:
    def operator(self: Sparse, *args: Any) -> Any:
        return _op(self, name, *args)

    return operator


for _name in ("add radd sub rsub neg abs pow eq ne lt gt le ge").split():
    setattr(Sparse, f"__{_name}__", _operator(f"__{_name}__"))
CLASSES: dict[str, Any] = {}
for _form in _FORMATS:
    for _kind in ("matrix", "array"):
        _own = {"_form": _form, "_kind": _kind, "__module__": "cupyx.scipy.sparse"}
        CLASSES[f"{_form}_{_kind}"] = type(f"{_form}_{_kind}", (Sparse,), _own)


def _function(name: str, form: str | None = None) -> Callable[..., Any]:
    """A function of SciPy's that makes a matrix; in the format `form` where CuPy gives that unasked."""

    def function(*args: Any, **kwargs: Any) -> Any:
        if form is not None and kwargs.get("format") is None and len(args) < 2 + (name == "kron"):
            kwargs["format"] = form
        return opaque(f"cupyx.scipy.sparse.{name}", getattr(_scipy(), name), (None, *args), kwargs)

    function.__name__ = name
    return function


def _diags(diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None) -> Any:
    """A matrix of diagonals; those of the host are copied one by one."""
    single = np.isscalar(offsets) and not (len(diagonals) and isinstance(diagonals[0], (list, tuple)))
    rows = [diagonals] if single else list(diagonals)
    held = [_cupy().atleast_1d(_cupy().asarray(row)) for row in rows]
    _cupy().asarray(np.atleast_1d(offsets), "i")
    if dtype is None:
        dtype = shared.quietly(np.common_type, *(row._a for row in held))
    return opaque(
        "cupyx.scipy.sparse.diags",
        _scipy().diags,
        (None, held, np.atleast_1d(offsets).tolist(), shape, format, dtype),
        {},
    )


def _places(key: Any) -> Any:
    """A key whose lists and arrays of the host are on the device."""
    if isinstance(key, tuple):
        return tuple(map(_places, key))
    return _cupy().asarray(key) if isinstance(key, (list, np.ndarray)) else key


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


def _norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    """The norm of a matrix, or of its rows or columns."""
    if not isinstance(x, Sparse):
        raise TypeError("input is not sparse. use cupy.linalg.norm")
    import scipy.sparse.linalg

    norm = scipy.sparse.linalg.norm
    return opaque("cupyx.scipy.sparse.linalg.norm", norm, (None, x), {"ord": ord, "axis": axis})


_norm.__name__ = "norm"


CONTENTS: dict[str, Any] = {
    **CLASSES,
    "spmatrix": Sparse, "issparse": issparse, "isspmatrix": issparse, "diags": _diags,
    "hstack": _function("hstack", "coo"), "kron": _function("kron", "coo"),
    **{f"isspmatrix_{form}": _is_form(form) for form in _FORMATS},
    **{
        name: _function(name)
        for name in "bmat block_array block_diag diags_array eye eye_array find vstack identity kronsum rand random "
                    "spdiags tril triu"
        .split()
    },
}  # fmt: skip
SOLVERS: dict[str, Any] = {"norm": _norm, **iterative.CONTENTS}
