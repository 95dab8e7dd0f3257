"""`eigsh` and `svds` of `cupyx.scipy.sparse.linalg`: Lanczos' method with restarts, whose small problems the host
solves."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import calls
from ..core.calls import cupy as _cupy
from . import blas, iterative


def eigsh(
    a: Any, k: int = 6, *, which: str = "LM", v0: Any = None, ncv: int | None = None, maxiter: int | None = None,
    tol: float = 0, return_eigenvectors: bool = True,
) -> Any:  # fmt: skip
    """Some eigenvalues of a symmetric matrix, and their vectors; in each round the host reads whether they are near
    enough."""
    cupy = _cupy()
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError(f"expected square matrix (shape: {a.shape})")
    if np.dtype(a.dtype).char not in "fdFD":
        raise TypeError(f"unsupprted dtype (actual: {a.dtype})")
    n = a.shape[0]
    if k <= 0:
        raise ValueError(f"k must be greater than 0 (actual: {k})")
    if k >= n:
        raise ValueError(f"k must be smaller than n (actual: {k})")
    if which not in ("LM", "LA", "SA"):
        raise ValueError(f"which must be 'LM','LA'or'SA' (actual: {which})")
    ncv = min(max(2 * k, k + 32) if ncv is None else max(ncv, k + 2), n - 1)
    maxiter = 10 * n if maxiter is None else maxiter
    tol = np.finfo(a.dtype).eps if tol == 0 else tol
    alpha, beta = cupy.zeros(ncv, a.dtype), cupy.zeros(ncv, np.dtype(a.dtype).char.lower())
    V = cupy.empty((ncv, n), a.dtype)
    u = cupy.random.random((n,)).astype(a.dtype) if v0 is None else v0
    V[0] = u / blas.nrm2(u)
    u = _steps(a, V, u, alpha, beta, 0, ncv)
    done = ncv
    w, s = _ritz(alpha, beta, None, k, which)
    x = V.T @ s
    last = beta[-1] * s[-1, :]
    left = blas.nrm2(last)
    along = cupy.empty((k,), a.dtype)
    while left > tol and done < maxiter:
        beta[:k] = 0
        alpha[:k] = w
        V[:k] = x.T
        blas.gemv(k, V, u, along)
        blas.gemv_away(k, V, along, u)
        V[k] = u / blas.nrm2(u)
        u[...] = a @ V[k]
        blas.dotc(V[k], u, alpha, k)
        u -= alpha[k] * V[k]
        u -= V[:k].T @ last
        blas.nrm2(u, beta, k)
        V[k + 1] = u / beta[k]
        u = _steps(a, V, u, alpha, beta, k + 1, ncv)
        done += ncv - k
        w, s = _ritz(alpha, beta, last, k, which)
        x = V.T @ s
        last = beta[-1] * s[-1, :]
        left = blas.nrm2(last)
    if not return_eigenvectors:
        return cupy.sort(w)
    order = cupy.argsort(w)
    return w[order], x[:, order]


def _steps(a: Any, V: Any, u: Any, alpha: Any, beta: Any, begin: int, end: int) -> Any:
    """Rows of V from one to another, each orthogonal to those before; returns what the next would be made of."""
    cupy = _cupy()
    by_rows = getattr(a, "format", None) == "csr"
    v, uu, vv = (cupy.empty((length,), a.dtype) for length in (V.shape[1], len(alpha), V.shape[1]))
    b = cupy.empty((), a.dtype)
    v[...] = V[begin]
    for at in range(begin, end):
        if by_rows:
            u = a @ v
        else:
            u[...] = a @ v
        blas.dotc(v, u, alpha, at)
        vv.fill(0)
        b[...] = beta[at - 1]
        blas.axpy(alpha, v, vv, at)
        blas.axpy(b, V[at - 1], vv)
        blas.axpy(-1.0, vv, u)
        blas.gemv(at + 1, V, u, uu)
        blas.gemv_away(at + 1, V, uu, u)
        alpha[at] += uu[at]
        blas.nrm2(u, beta, at)
        if at < end - 1:
            _normalised(u, beta, at, v, V)
    return u


def _normalised(u: Any, beta: Any, at: int, v: Any, V: Any) -> None:
    """The next row, in one kernel."""

    def compute(plain: Any) -> Any:
        v._a[...] = plain / beta._a[at]
        V._a[at + 1] = v._a
        return ()

    calls.run("cupy.ElementwiseKernel", compute, (u._a,), {}, {"n": u.size, "functions": "divide"})


def _ritz(alpha: Any, beta: Any, last: Any, k: int, which: str) -> tuple[Any, Any]:
    """The eigenvalues wanted of the small matrix, and their vectors: on the host."""
    cupy = _cupy()
    diagonal, beside = cupy.asnumpy(alpha), cupy.asnumpy(beta)
    small = np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1)
    if last is not None:
        last = cupy.asnumpy(last)
        small[k, :k] = last
        small[:k, k] = last
    w, s = np.linalg.eigh(small)
    order = np.argsort(np.abs(w) if which == "LM" else w)
    chosen = order[:k] if which == "SA" else order[-k:]
    return cupy.array(w[chosen]), cupy.array(s[:, chosen])


def svds(
    a: Any, k: int = 6, *, ncv: int | None = None, tol: float = 0, which: str = "LM", maxiter: int | None = None,
    return_singular_vectors: bool = True,
) -> Any:  # fmt: skip
    """The largest singular values, by the eigenvalues of the matrix times itself turned."""
    cupy = _cupy()
    if a.ndim != 2:
        raise ValueError(f"expected 2D (shape: {a.shape})")
    if np.dtype(a.dtype).char not in "fdFD":
        raise TypeError(f"unsupprted dtype (actual: {a.dtype})")
    m, n = a.shape
    if k <= 0:
        raise ValueError(f"k must be greater than 0 (actual: {k})")
    if k >= min(m, n):
        raise ValueError(f"k must be smaller than min(m, n) (actual: {k})")
    operator = iterative.aslinearoperator(a)
    first, last = (operator, operator.H) if m >= n else (operator.H, operator)
    words: dict[str, Any] = {"k": k, "which": which, "ncv": ncv, "maxiter": maxiter, "tol": tol}
    found = eigsh(last @ first, return_eigenvectors=return_singular_vectors, **words)
    w, x = found if return_singular_vectors else (found, None)
    w = cupy.maximum(w, 0)
    limit = {"f": 1e3, "d": 1e6}[w.dtype.char.lower()] * np.finfo(w.dtype).eps * cupy.max(w)
    above = w > limit
    large = above.sum().item()
    s = cupy.zeros_like(w)
    s[:large] = cupy.sqrt(w[above])
    if x is None:
        return s
    x = x[:, above]
    other = first @ x / s[:large]
    u, v = (other, x) if m >= n else (x, other)
    return _with_more(u, k - large), s, _with_more(v, k - large).conj().T


def _with_more(x: Any, count: int) -> Any:
    """The same with so many columns more, orthogonal to all before."""
    cupy = _cupy()
    if count <= 0:
        return x
    rows, columns = x.shape
    y = cupy.empty((rows, columns + count), x.dtype)
    y[:, :columns] = x
    for at in range(columns, columns + count):
        v = cupy.random.random((rows,)).astype(x.dtype)
        v -= v @ y[:, :at].conj() @ y[:, :at].T
        y[:, at] = v / cupy.linalg.norm(v)
    return y


CONTENTS: dict[str, Any] = {"eigsh": eigsh, "svds": svds}
