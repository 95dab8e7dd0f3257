"""`cupyx.scipy.sparse.linalg`: solvers by iteration, which end when the host has read how far they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import calls, shared
from ..core.calls import cupy as _cupy


class LinearOperator:
    """What multiplies vectors of the device: a matrix, or functions of the program's."""

    __module__ = "cupyx.scipy.sparse.linalg"
    _calls_programs = True
    ndim = 2
    dtype: Any = None
    shape: tuple[int, int]

    def __init__(
        self,
        shape: Any,
        matvec: Any = None,
        rmatvec: Any = None,
        matmat: Any = None,
        dtype: Any = None,
        rmatmat: Any = None,
    ):
        if not isinstance(shape, tuple):  # a class of the program's own gives its type of elements first
            shape, dtype = matvec, shape
            matvec = None
        if len(shape) != 2:
            raise ValueError(f"invalid shape {shape!r} (must be 2-d)")
        self.shape = tuple(shape)
        for name, function in (("_matvec", matvec), ("_rmatvec", rmatvec), ("_matmat", matmat), ("_rmatmat", rmatmat)):
            if function is not None:
                setattr(self, name, function)
        self.dtype = dtype if dtype is None else np.dtype(dtype)
        if self.dtype is None and matvec is not None:
            self.dtype = matvec(_cupy().random.randn(self.shape[-1])).dtype

    def _matvec(self, x: Any) -> Any:
        return self._matmat(x.reshape(-1, 1))

    def _matmat(self, X: Any) -> Any:
        return _cupy().hstack([self.matvec(X[:, at]).reshape(-1, 1) for at in range(X.shape[1])])

    def _rmatvec(self, x: Any) -> Any:
        raise NotImplementedError("rmatvec is not defined")

    @property
    def H(self) -> Any:
        return self._adjoint()

    def adjoint(self) -> Any:
        return self._adjoint()

    def _adjoint(self) -> Any:
        return LinearOperator(self.shape[::-1], self.rmatvec, self.matvec, dtype=self.dtype)

    def matvec(self, x: Any) -> Any:
        return self._applied(self._matvec, x, self.shape)

    def rmatvec(self, x: Any) -> Any:
        return self._applied(self._rmatvec, x, self.shape[::-1])

    def matmat(self, X: Any) -> Any:
        if X.ndim != 2:
            raise ValueError(f"expected 2-d ndarray or matrix, not {X.ndim}-d")
        if X.shape[0] != self.shape[1]:
            raise ValueError(f"dimension mismatch: {self.shape!r}, {X.shape!r}")
        return self._matmat(X)

    @staticmethod
    def _applied(function: Callable[[Any], Any], x: Any, shape: tuple[int, int]) -> Any:
        if x.shape not in ((shape[1],), (shape[1], 1)):
            raise ValueError("dimension mismatch")
        return function(x).reshape((shape[0],) if x.ndim == 1 else (shape[0], 1))

    def dot(self, x: Any) -> Any:
        if isinstance(x, LinearOperator):
            return _after(self, x)
        return self.matvec(x) if x.ndim == 1 or x.shape[1] == 1 else self.matmat(x)

    def __matmul__(self, x: Any) -> Any:
        if np.isscalar(x):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self.dot(x)

    def __mul__(self, x: Any) -> Any:
        return self.dot(x)

    def __call__(self, x: Any) -> Any:
        return self.dot(x)

    def __repr__(self) -> str:
        rows, columns = self.shape
        kind = "unspecified dtype" if self.dtype is None else f"dtype={self.dtype}"
        return f"<{rows}x{columns} {type(self).__name__} with {kind}>"


class MatrixLinearOperator(LinearOperator):
    """A matrix as an operator."""

    __module__ = "cupyx.scipy.sparse.linalg._interface"

    def __init__(self, A: Any) -> None:
        self.A, self.shape, self.dtype = A, A.shape, A.dtype
        self._turned: Any = None

    def _matvec(self, x: Any) -> Any:
        return self.A.dot(x)

    def _matmat(self, X: Any) -> Any:
        return self.A.dot(X)

    def _rmatvec(self, x: Any) -> Any:
        return self.H.matvec(x)

    def _adjoint(self) -> Any:
        if self._turned is None:
            self._turned = MatrixLinearOperator(self.A.T.conj())
        return self._turned


def _after(last: LinearOperator, first: LinearOperator) -> LinearOperator:
    """Two operators as one."""
    if last.shape[1] != first.shape[0]:
        raise ValueError(f"cannot multiply {last!r} and {first!r}: shape mismatch")

    def matvec(x: Any) -> Any:
        return last.matvec(first.matvec(x))

    def rmatvec(x: Any) -> Any:
        return first.rmatvec(last.rmatvec(x))

    def matmat(x: Any) -> Any:
        return last.matmat(first.matmat(x))

    shape, dtype = (last.shape[0], first.shape[1]), np.result_type(last.dtype, first.dtype)
    return LinearOperator(shape, matvec, rmatvec, matmat, dtype)


def aslinearoperator(A: Any) -> LinearOperator:
    """`A` as what multiplies vectors."""
    if isinstance(A, LinearOperator):
        return A
    if calls.is_device(A) or hasattr(A, "_breakeven_sparse"):
        if A.ndim > 2:
            raise ValueError("array must have ndim <= 2")
        return MatrixLinearOperator(A)
    raise TypeError("type not understood")


def system(A: Any, M: Any, x0: Any, b: Any) -> tuple[Any, Any, Any, Any]:
    """Two functions that multiply, the start and the right-hand side."""
    A = aslinearoperator(A)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"expected square matrix (shape: {A.shape})")
    if np.dtype(A.dtype).char not in "fdFD":
        raise TypeError(f"unsupprted dtype (actual: {A.dtype})")
    n = A.shape[0]
    if b.shape not in ((n,), (n, 1)):
        raise ValueError("b has incompatible dimensions")
    if x0 is not None and x0.shape not in ((n,), (n, 1)):
        raise ValueError("x0 has incompatible dimensions")
    b = b.astype(A.dtype).ravel()
    x = _cupy().zeros(n, A.dtype) if x0 is None else x0.astype(A.dtype).ravel()
    if M is None:
        return A.matvec, lambda r: r, x, b
    M = aslinearoperator(M)
    if A.shape != M.shape:
        raise ValueError("matrix and preconditioner have different shapes")
    return A.matvec, M.matvec, x, b


def _limit(b: Any, rtol: float, atol: float) -> float | None:
    """How small the residual must become; None for a right-hand side of zeros."""
    norm = _cupy().linalg.norm(b)
    return None if norm == 0 else max(float(atol), rtol * float(norm))


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: Any = None,
) -> Any:
    """Conjugate gradients."""
    cupy = _cupy()
    matvec, psolve, x, b = system(A, M, x0, b)
    limit = _limit(b, rtol, atol)
    if limit is None:
        return b, 0
    most = b.size * 10 if maxiter is None else maxiter
    r = b - matvec(x)
    p: Any = None
    rho: Any = None
    done = 0
    for done in range(1, most + 1):
        z = psolve(r)
        before, rho = rho, cupy.vdot(r, z)
        p = z if p is None else z + (rho / before) * p
        q = matvec(p)
        alpha = rho / cupy.vdot(p, q)
        x = x + alpha * p
        r = r - alpha * q
        if callback is not None:
            callback(x)
        if cupy.linalg.norm(r) <= limit:
            return x, 0
    return x, done


def cgs(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: Any = None,
) -> Any:
    """Conjugate gradients, squared."""
    cupy = _cupy()
    matvec, psolve, x, b = system(A, M, x0, b)
    limit = _limit(b, rtol, atol)
    if limit is None:
        return b, 0
    most = b.size * 5 if maxiter is None else maxiter
    first = b - matvec(x)
    rho = cupy.dot(first, first)
    r, u, p = first.copy(), first, first.copy()
    done = 0
    while True:
        v = matvec(psolve(p))
        alpha = rho / cupy.dot(first, v)
        q = u - alpha * v
        z = psolve(u + q)
        x += alpha * z
        r -= alpha * matvec(z)
        norm = cupy.linalg.norm(r)
        done += 1
        if callback is not None:
            callback(x)
        if norm <= limit:
            return x, 0
        if done >= most:
            return x, done
        before, rho = rho, cupy.dot(first, r)
        beta = rho / before
        u = r + beta * q
        p *= beta
        p += q
        p *= beta
        p += u


def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: Any = None,
) -> Any:
    """Conjugate gradients of two sides, stabilised."""
    cupy = _cupy()
    matvec, psolve, x, b = system(A, M, x0, b)
    limit = _limit(b, rtol, atol)
    if limit is None:
        return b, 0
    most = b.size * 10 if maxiter is None else maxiter
    small = float(np.finfo(x.dtype).eps) ** 2
    product = cupy.vdot if x.dtype.kind == "c" else cupy.dot
    r = b - matvec(x)
    first = r.copy()
    done, before, omega, alpha = 0, 1.0, 1.0, 1.0
    p: Any = None
    v: Any = None
    while not cupy.linalg.norm(r) <= limit:
        if done >= most:
            return x, done
        rho = product(first, r).item()
        if abs(rho) < small:
            return x, -10
        if p is None:
            p = r.copy()
        elif abs(omega) < small:
            return x, -11
        else:
            p -= omega * v
            p *= (rho / before) * (alpha / omega)
            p += r
        towards = psolve(p)
        v = matvec(towards)
        through = product(first, v).item()
        if through == 0:
            return x, -11
        alpha = rho / through
        r -= alpha * v
        if cupy.linalg.norm(r) <= limit:
            x += alpha * towards
            break
        beside = psolve(r)
        t = matvec(beside)
        omega = (product(t, r) / product(t, t)).item()
        x += alpha * towards
        x += omega * beside
        r -= omega * t
        before = rho
        done += 1
        if callback is not None:
            callback(x)
    return x, 0


def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    restart: int | None = None,
    maxiter: int | None = None,
    M: Any = None,
    callback: Any = None,
    callback_type: str | None = None,
) -> Any:
    """Least residuals; the small problem of each round is solved on the host."""
    cupy = _cupy()
    matvec, psolve, x, b = system(A, M, x0, b)
    if callback_type not in (None, "x", "pr_norm"):
        raise ValueError(f"Unknown callback_type: {callback_type}")
    limit = _limit(b, rtol, atol)
    if limit is None:
        return b, 0
    n, kind = b.size, x.dtype
    most = n * 10 if maxiter is None else maxiter
    rows = min(restart or 20, n)
    V = cupy.empty((n, rows), kind, order="F")
    H = cupy.zeros((rows + 1, rows), kind, order="F")
    e = shared.quietly(np.zeros, rows + 1, kind)
    done = 0
    while True:
        mx = psolve(x)
        r = b - matvec(mx)
        norm = cupy.linalg.norm(r)
        if callback is not None and (callback_type == "x" or done > 0):
            callback(mx if callback_type == "x" else norm / cupy.linalg.norm(b))
        if norm <= limit or done >= most:
            return mx, 0 if norm <= limit else done
        v = r / norm
        V[:, 0] = v
        e[0] = norm.item()
        for at in range(rows):
            u = matvec(psolve(v))
            basis = V[:, : at + 1]
            h = basis.conj().T @ u
            H[: at + 1, at] = h
            u = u - basis @ h
            H[at + 1, at] = cupy.linalg.norm(u)
            if at + 1 < rows:
                v = u / H[at + 1, at]
                V[:, at + 1] = v
        y = np.linalg.lstsq(cupy.asnumpy(H), e, rcond=None)[0]
        x += V @ cupy.array(y)
        done += rows


CONTENTS: dict[str, Any] = {
    function.__name__: function for function in (LinearOperator, aslinearoperator, cg, cgs, bicgstab, gmres)
}
