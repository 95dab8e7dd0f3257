"""`cupyx.lapack`: systems of equations, told as the factorisation and the solves by triangles that they take."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ..core import calls
from ..core.calls import cupy as _cupy


def _scipy() -> Any:
    return importlib.import_module("scipy.linalg")


def _refuse_unlike(a: Any, b: Any, error: type[Exception]) -> None:
    """Raises what CuPy does for arrays that are no matrix and its right-hand sides."""
    if a.ndim != 2:
        raise ValueError(f"a.ndim must be 2 (actual: {a.ndim})")
    if b.ndim not in (1, 2):
        raise ValueError(f"b.ndim must be 1 or 2 (actual: {b.ndim})")
    if a.shape[0] != b.shape[0]:
        raise ValueError(f"shape mismatch (a: {a.shape}, b: {b.shape}).")
    if a.dtype != b.dtype:
        raise error(f"dtype mismatch (a: {a.dtype}, b: {b.dtype})")
    if a.dtype.char not in "fdFD":
        raise error(f"unsupported dtype (actual: {a.dtype})")


def gesv(a: Any, b: Any) -> None:
    """The solutions take the place of the right-hand sides, and the factors that of the matrix."""
    _refuse_unlike(a, b, TypeError)
    if a.shape[0] != a.shape[1]:
        raise ValueError("a must be a square matrix.")
    if not (a.flags.f_contiguous or a.flags.c_contiguous):
        raise ValueError("a must be F-contiguous or C-contiguous.")
    if not b.flags.f_contiguous:
        raise ValueError("b must be F-contiguous.")

    def solve(matrix: Any, sides: Any) -> Any:
        turned = not matrix.flags.f_contiguous
        # By LAPACK's own, which warn of nothing.
        factor, solve_by = _scipy().get_lapack_funcs(("getrf", "getrs"), (matrix,))
        factors, pivots, _ = factor(matrix.T if turned else matrix)
        sides[...], _ = solve_by(factors, pivots, sides, trans=int(turned))
        matrix[...] = factors.T if turned else factors
        return sides

    calls.run("cupy.linalg.solve", solve, calls.plain((a, b)), {}, {"kernels": 2})


def gels(a: Any, b: Any) -> Any:
    """The solution with the least squares, or of all the smallest."""
    _refuse_unlike(a, b, ValueError)
    if a.shape[0] >= a.shape[1]:
        q, r = _cupy().linalg.qr(a)
        return _by_triangle(r, q.conj().T @ b, False)
    q, r = _cupy().linalg.qr(a.conj().T)
    return q @ _by_triangle(r.conj().T, b, True)


def _by_triangle(triangle: Any, b: Any, lower: bool) -> Any:
    def solve(matrices: Any, sides: Any) -> Any:
        if matrices.ndim == 2:
            return _scipy().solve_triangular(matrices, sides, lower=lower, check_finite=False)
        whole = sides if sides.ndim == matrices.ndim else sides[..., None]
        return np.linalg.solve(matrices, whole).reshape(sides.shape)

    plain = calls.plain((triangle, b))
    return calls.wrapped(calls.run("cupyx.scipy.linalg.solve_triangular", solve, plain, {}, {"kernels": 1}))


def _floating(matrices: Any, b: Any) -> list[Any]:
    """Both in the type that cuSOLVER takes them in.

    Raises LinAlgError for what are no square matrices of the device.
    """
    for item in (matrices, b):
        if not calls.is_device(item):
            raise np.linalg.LinAlgError("cupy.linalg only supports cupy.ndarray")
    if matrices.ndim < 2:
        raise np.linalg.LinAlgError(f"{matrices.ndim}-dimensional array given. Array must be at least two-dimensional")
    if matrices.shape[-1] != matrices.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    common = np.promote_types(np.promote_types(matrices.dtype, b.dtype), "f")
    return [item.astype(common, copy=False) for item in (matrices, b)]


def posv(a: Any, b: Any) -> Any:
    """The solution by the factor of Cholesky's."""
    a, b = _floating(a, b)
    return potrs(_cupy().linalg.cholesky(a), b, True)


def potrs(L: Any, b: Any, lower: bool) -> Any:
    """The solution by a factor that is there."""
    L, b = _floating(L, b)
    other = L.swapaxes(-1, -2).conj()
    first, second = (L, other) if lower else (other, L)
    return _by_triangle(second, _by_triangle(first, b, True), False)


CONTENTS: dict[str, Any] = {function.__name__: function for function in (gesv, gels, posv, potrs)}
for _function in CONTENTS.values():
    _function.__module__ = "cupyx.lapack"
