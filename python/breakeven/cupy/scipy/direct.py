"""`cupyx.scipy.sparse.linalg`: systems solved by factors. Those of LU are made on the host, by SciPy, as CuPy makes
them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import calls, shared
from ..core.calls import cupy as _cupy
from .sparse import CLASSES, Sparse, opaque

_LINALG = "cupyx.scipy.sparse.linalg"


def _scipy() -> Any:
    import scipy.sparse.linalg

    return scipy.sparse.linalg


def _check(A: Any, b: Any) -> None:
    if not isinstance(A, Sparse):
        raise TypeError("A must be cupyx.scipy.sparse.spmatrix")
    if not calls.is_device(b):
        raise TypeError("b must be cupy.ndarray")
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be a square matrix (A.shape: {A.shape})")
    if b.ndim not in (1, 2):
        raise ValueError(f"Invalid b.shape (b.shape: {b.shape})")
    if A.shape[0] != b.shape[0]:
        raise ValueError(f"matrix dimension mismatch (A.shape: {A.shape}, b.shape: {b.shape})")


def _by_rows(A: Any, forms: tuple[str, ...], told: str) -> Any:
    """The matrix in one of these formats, by rows if it is in another."""
    if A.format in forms:
        return A
    efficiency = sys.modules["cupyx.scipy.sparse"].SparseEfficiencyWarning
    warnings.warn(f"{told} format is required. Converting to CSR format.", efficiency, stacklevel=3)
    return A.tocsr()


def spsolve(A: Any, b: Any) -> Any:
    """The solution, for each column by a factorisation of its own."""
    _check(A, b)
    A = _by_rows(A, ("csr",), "CSR")
    b = b.astype(A.dtype, copy=False)
    if b.ndim == 1:
        return _solved(A, b)
    columns = [_solved(A, b[:, place]) for place in range(b.shape[1])]
    return _cupy().asarray(_cupy().stack(columns, axis=1), order="F")


def _solved(A: Any, b: Any) -> Any:
    """By the QR factorisation of cuSOLVER's, whoever asks for it."""
    return opaque(f"{_LINALG}.spsolve", lambda matrix, rhs: _scipy().spsolve(matrix.tocsc(), rhs), (None, A, b), {})


def spsolve_triangular(
    A: Any, b: Any, lower: bool = True, overwrite_A: bool = False, overwrite_b: bool = False,
    unit_diagonal: bool = False,
) -> Any:  # fmt: skip
    """The solution with a matrix of which one side counts."""
    _check(A, b)
    if A.dtype.char not in "fdFD":
        raise TypeError(f"unsupported dtype (actual: {A.dtype})")
    A = _by_rows(A, ("csr", "csc", "coo"), "CSR, CSC or COO")

    def solve(matrix: Any, rhs: Any) -> Any:
        return _triangular(matrix, rhs, lower, unit_diagonal)

    return opaque(f"{_LINALG}.spsolve_triangular", solve, (None, A, b), {})


def _triangular(matrix: Any, rhs: Any, lower: bool, unit: bool) -> Any:
    """Of plain arrays; SciPy takes no matrix that has something on its other side."""
    import scipy.sparse

    side = (scipy.sparse.tril if lower else scipy.sparse.triu)(matrix, format="csr")
    if unit:
        side = side + scipy.sparse.diags(1 - side.diagonal(), format="csr")
    return _scipy().spsolve_triangular(scipy.sparse.csr_matrix(side), rhs, lower=lower)


def lsqr(A: Any, b: Any) -> Any:
    """The solution by one QR factorisation; of what SciPy tells besides, CuPy knows nothing."""
    if not (isinstance(A, Sparse) and A.format == "csr"):
        A = CLASSES["csr_matrix"](A)
    if A.shape[0] != A.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if not calls.is_device(b):
        raise np.linalg.LinAlgError("cupy.linalg only supports cupy.ndarray")
    if b.ndim != 1 or len(b) != A.shape[0]:
        raise ValueError("b must be 1-d array whose size is same as A")
    return (_solved(A, b).astype(np.float64), *(None,) * 9)


class SuperLU:
    """The factors of a sparse matrix, brought to the device."""

    __module__ = _LINALG

    def __init__(self, obj: Any) -> None:
        cupy, rows = _cupy(), CLASSES["csr_matrix"]
        self.shape, self.nnz = obj.shape, obj.nnz
        self.perm_r, self.perm_c = cupy.array(obj.perm_r), cupy.array(obj.perm_c)
        self.L, self.U = rows(shared.quietly(obj.L.tocsr)), rows(shared.quietly(obj.U.tocsr))
        self._perm_r_rev, self._perm_c_rev = cupy.argsort(self.perm_r), cupy.argsort(self.perm_c)
        self._solve: Callable[[Any, str], Any] = obj.solve

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        if not calls.is_device(rhs):
            raise TypeError("ojb must be cupy.ndarray")
        if rhs.ndim not in (1, 2):
            raise ValueError(f"rhs.ndim must be 1 or 2 (actual: {rhs.ndim})")
        if rhs.shape[0] != self.shape[0]:
            raise ValueError(f"shape mismatch (self.shape: {self.shape}, rhs.shape: {rhs.shape})")
        if trans not in ("N", "T", "H"):
            raise ValueError("trans must be 'N', 'T', or 'H'")
        x = rhs.astype(self.L.dtype)
        if self.perm_r is None:
            return _laid(self._through(x, x, trans, None))
        before, after, back = (self._perm_r_rev, self.perm_c, self._perm_c_rev)
        if trans != "N":
            before, after, back = (self._perm_c_rev, self.perm_r, self._perm_r_rev)
        return _laid(self._through(x[before], x, trans, back)[after])

    def _through(self, moved: Any, rhs: Any, trans: str, back: Any) -> Any:
        """Both triangular solves, of what was `moved`; the result still in the order of the factors."""

        def solve() -> Any:
            found = self._solve(rhs._a, trans)
            return found if back is None else found[back._a]

        args = (None, self.L, self.U, moved)
        return opaque(f"{_LINALG}.SuperLU.solve", lambda *_: shared.quietly(solve), args, {})


def _laid(x: Any) -> Any:
    return x if x.flags.f_contiguous else x.copy(order="F")


class CusparseLU(SuperLU):
    """Factors that have no more elements than the matrix."""

    __module__ = "cupyx.scipy.sparse.linalg._solve"

    def __init__(self, a: Any) -> None:
        import scipy.sparse

        self.shape, self.nnz = a.shape, a.nnz
        self.perm_r = self.perm_c = None
        host, rows = a.get(), CLASSES["csr_matrix"]
        lower = shared.quietly(
            lambda: scipy.sparse.tril(host, -1, "csr") + scipy.sparse.identity(a.shape[0], a.dtype, "csr")
        )
        upper = shared.quietly(scipy.sparse.triu, host, 0, "csr")
        self.L, self.U = rows(lower), rows(upper)

        def solve(rhs: Any, trans: str) -> Any:
            if trans == "N":
                return _triangular(upper, _triangular(lower, rhs, True, False), False, False)
            turned = [part.T.tocsr() if trans == "T" else part.conj().T.tocsr() for part in (upper, lower)]
            return _triangular(turned[1], _triangular(turned[0], rhs, True, False), False, False)

        self._solve = solve


def _checked(A: Any) -> None:
    if not isinstance(A, Sparse):
        raise TypeError("A must be cupyx.scipy.sparse.spmatrix")
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be a square matrix (A.shape: {A.shape})")
    if A.dtype.char not in "fdFD":
        raise TypeError(f"Invalid dtype (actual: {A.dtype})")


def splu(
    A: Any, permc_spec: Any = None, diag_pivot_thresh: Any = None, relax: Any = None, panel_size: Any = None,
    options: Any = {},
) -> SuperLU:  # fmt: skip
    """Factors that the host makes of the matrix, which is copied there."""
    _checked(A)
    return SuperLU(_scipy().splu(A.get().tocsc(), permc_spec, diag_pivot_thresh, relax, panel_size, options))


def spilu(
    A: Any, drop_tol: Any = None, fill_factor: Any = None, drop_rule: Any = None, permc_spec: Any = None,
    diag_pivot_thresh: Any = None, relax: Any = None, panel_size: Any = None, options: Any = {},
) -> SuperLU:  # fmt: skip
    """The same, incomplete; without more elements than the matrix has, made on the device."""
    _checked(A)
    if fill_factor == 1:
        a = A.copy() if A.format == "csr" else A.tocsr()
        return CusparseLU(opaque(f"{_LINALG}.spilu", _incomplete, (None, a), {}))
    host = A.get().tocsc()
    words = (drop_tol, fill_factor, drop_rule, permc_spec, diag_pivot_thresh, relax, panel_size, options)
    return SuperLU(_scipy().spilu(host, *words))


def _incomplete(matrix: Any) -> Any:
    """Both factors in the places of a matrix by rows, the diagonal that of the upper one."""
    made = matrix.sorted_indices()
    starts, columns, values = made.indptr.tolist(), made.indices.tolist(), made.data.tolist()
    rows = [dict(zip(columns[at:end], range(at, end))) for at, end in zip(starts, starts[1:])]
    for number, row in enumerate(rows):
        for above, place in row.items():
            if above >= number:
                break
            values[place] /= values[rows[above][above]]
            for column, of_above in rows[above].items():
                if column > above and column in row:
                    values[row[column]] -= values[place] * values[of_above]
    made.data[:] = values
    return made


def factorized(A: Any) -> Callable[[Any], Any]:
    """What solves with the factors of this matrix."""
    return splu(A).solve


CONTENTS: dict[str, Any] = {
    function.__name__: function for function in (spsolve, spsolve_triangular, lsqr, SuperLU, splu, spilu, factorized)
}
