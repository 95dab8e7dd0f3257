"""`minres` and `lsmr` of `cupyx.scipy.sparse.linalg`: of each step the host reads some norms, and computes the rest
itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.calls import cupy as _cupy
from . import blas, iterative


def _sign(value: float) -> float:
    return (value > 0) - (value < 0)


def _rotation(a: float, b: float) -> tuple[float, float, float]:
    """Cosine, sine and length of the rotation that brings b to nothing."""
    if b == 0:
        return _sign(a), 0.0, abs(a)
    if a == 0:
        return 0.0, _sign(b), abs(b)
    if abs(b) > abs(a):
        ratio = a / b
        sine = _sign(b) / math.sqrt(1 + ratio * ratio)
        return sine * ratio, sine, b / sine
    ratio = b / a
    cosine = _sign(a) / math.sqrt(1 + ratio * ratio)
    return cosine, cosine * ratio, a / cosine


def _read_norm(x: Any) -> tuple[Any, float]:
    """A norm on the device, and as the host has it."""
    norm = blas.nrm2(x)
    return norm, float(norm.get().item())


def _same_both_ways(operator: Any, image: Any, vector: Any, eps: float) -> bool:
    """Whether an operator is symmetric, as far as one vector and its image tell."""
    cupy = _cupy()
    twice = operator(image)
    s, t = cupy.inner(image, image), cupy.inner(vector, twice)
    return not abs(s - t) > (s + eps) * eps ** (1.0 / 3.0)


def minres(
    A: Any, b: Any, x0: Any = None, shift: float = 0.0, tol: float = 1e-5, maxiter: int | None = None, M: Any = None,
    callback: Any = None, check: bool = False,
) -> Any:  # fmt: skip
    """Least residuals, for a symmetric matrix."""
    cupy = _cupy()
    matvec, psolve, x, b = iterative.system(A, M, x0, b)
    most = 5 * b.shape[0] if maxiter is None else maxiter
    eps = float(np.finfo(x.dtype).eps)
    image = matvec(x)
    r1 = b - image
    y = psolve(r1)
    first = cupy.inner(r1, y)
    if first < 0:
        raise ValueError("indefinite preconditioner")
    if first == 0:
        return x, 0
    beta1 = float(cupy.sqrt(first).get().item().real)
    if check:
        for operator, of, vector, what in ((matvec, image, x, "matrix"), (psolve, y, r1, "preconditioner")):
            if not _same_both_ways(operator, of, vector, eps):
                raise ValueError(f"non-symmetric {what}")
    old, beta, diagonal, epsilon, residual = 0.0, beta1, 0.0, 0.0, beta1
    rhs1, rhs2, squares, greatest, least = beta1, 0.0, 0.0, 0.0, float(np.finfo(x.dtype).max)
    cosine, sine = -1.0, 0.0
    w, w2 = cupy.zeros(len(b), x.dtype), cupy.zeros(len(b), x.dtype)
    r2 = r1
    done = stop = 0
    while done < most and not stop:
        done += 1
        v = (y * (1.0 / beta)).astype(y.dtype)
        y = matvec(v)
        y -= shift * v
        if done >= 2:
            y -= (beta / old) * r1
        alpha = float(cupy.inner(v, y).get().item().real)
        y -= (alpha / beta) * r2
        r1, r2 = r2, y
        y = psolve(r2)
        old = beta
        square = float(cupy.inner(r2, y).get().item().real)
        if square < 0:
            raise ValueError("non-symmetric matrix")
        beta = math.sqrt(square)
        squares += alpha**2 + old**2 + beta**2
        small = done == 1 and beta / beta1 <= 10 * eps
        before = epsilon
        delta = cosine * diagonal + sine * alpha
        bar = sine * diagonal - cosine * alpha
        epsilon = sine * beta
        diagonal = -cosine * beta
        root = math.hypot(bar, diagonal)
        gamma = max(math.hypot(bar, beta), eps)
        cosine, sine = bar / gamma, beta / gamma
        step = cosine * residual
        residual *= sine
        w1, w2 = w2, w
        w = (v - before * w1 - delta * w2) * (1.0 / gamma)
        x += step * w
        greatest, least = max(greatest, gamma), min(least, gamma)
        z = rhs1 / gamma
        rhs1, rhs2 = rhs2 - delta * z, -epsilon * z
        of_matrix = math.sqrt(squares)
        of_x = float(cupy.linalg.norm(x).get().item())
        test1 = residual / (of_matrix * of_x) if of_matrix * of_x else math.inf
        test2 = root / of_matrix if of_matrix else math.inf
        stop = (
            -1
            if small
            else _ended(test1, test2, tol, done >= most, greatest / least, of_matrix * of_x * eps >= beta1, eps)
        )
        if callback is not None:
            callback(x)
    if x.dtype == np.float32:
        x = x.astype(np.float64)
    return x, most if stop == 6 else 0


def _ended(test1: float, test2: float, tol: float, last: bool, condition: float, exact: bool, eps: float) -> int:
    """Why to stop, as MINRES counts; 0 to go on."""
    reasons = (
        (1, test1 <= tol), (2, test2 <= tol), (3, exact), (4, condition >= 0.1 / eps), (6, last), (1, 1 + test1 <= 1),
        (2, 1 + test2 <= 1),
    )  # fmt: skip
    return next((number for number, holds in reasons if holds), 0)


def lsmr(
    A: Any, b: Any, x0: Any = None, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6, conlim: float = 1e8,
    maxiter: int | None = None,
) -> Any:  # fmt: skip
    """Least squares, by steps that make a matrix of two diagonals."""
    cupy = _cupy()
    A = iterative.aslinearoperator(A)
    b = b.squeeze()
    rows, columns = A.shape
    most = 5 * min(rows, columns) if maxiter is None else maxiter
    dtype = np.result_type(A.dtype, b.dtype, float, *(() if x0 is None else (x0.dtype,)))
    u = b.copy()
    beta, of_b = _read_norm(u)
    length = of_b
    if x0 is None:
        x = cupy.zeros(columns, dtype)
        beta, length = beta.copy(), float(beta.get().item())
    else:
        if x0.shape not in ((columns,), (columns, 1)):
            raise ValueError("x0 has incompatible dimensions")
        x = x0.astype(A.dtype).ravel()
        u -= A.matvec(x)
        beta, length = _read_norm(u)
    v = cupy.zeros(columns, dtype)
    alpha, height = cupy.zeros((), beta.dtype), 0.0
    if length > 0:
        u /= beta
        v = A.rmatvec(u)
        alpha, height = _read_norm(v)
    if height > 0:
        v /= alpha
    told = _Told(height, length, of_b, damp, atol, btol, 1 / conlim if conlim > 0 else 0.0)
    if told.normar == 0:
        return x, 0, 0, told.normr, told.normar, told.norma, told.conda, 0
    h, bar = v.copy(), cupy.zeros(columns, dtype)
    done = stop = 0
    of_x = 0.0
    while done < most and not stop:
        done += 1
        u *= -alpha
        u += A.matvec(v)
        beta, length = _read_norm(u)
        if length > 0:
            u /= beta
            v *= -beta
            v += A.rmatvec(u)
            alpha, height = _read_norm(v)
            if height > 0:
                v /= alpha
        of_bar, of_step, of_h = told.step(height, length, done)
        bar *= -of_bar
        bar += h
        x += of_step * bar
        h *= -of_h
        h += v
        of_x = _read_norm(x)[1]
        stop = told.ended(of_x, done >= most)
    return x.astype(np.float64), stop, done, told.normr, told.normar, told.norma, told.conda, of_x


class _Told:
    """What the host knows of the small matrix, and of the norms that come of it."""

    def __init__(
        self, alpha: float, beta: float, of_b: float, damp: float, atol: float, btol: float, ctol: float
    ) -> None:
        self._of_b, self._damp, self._atol, self._btol, self._ctol = of_b, damp, atol, btol, ctol
        self._zetabar, self._alphabar = alpha * beta, alpha
        self._rho = self._rhobar = self._cbar = 1.0
        self._sbar = self._zeta = 0.0
        self._betadd, self._betad, self._rhod, self._tau, self._theta, self._d = beta, 0.0, 1.0, 0.0, 0.0, 0.0
        self._squares, self._most, self._least = alpha * alpha, 0.0, 1e100
        self.norma, self.conda, self.normr, self.normar = alpha, 1.0, beta, alpha * beta

    def step(self, alpha: float, beta: float, done: int) -> tuple[float, float, float]:
        """The factors of one step."""
        chat, shat, alphahat = _rotation(self._alphabar, self._damp)
        rho_before = self._rho
        c, s, self._rho = _rotation(alphahat, beta)
        theta = s * alpha
        self._alphabar = c * alpha
        bar_before, zeta_before = self._rhobar, self._zeta
        thetabar, small = self._sbar * self._rho, self._cbar * self._rho
        self._cbar, self._sbar, self._rhobar = _rotation(small, theta)
        self._zeta = self._cbar * self._zetabar
        self._zetabar *= -self._sbar
        acute, check = chat * self._betadd, -shat * self._betadd
        hat = c * acute
        self._betadd = -s * acute
        theta_before = self._theta
        ctilde, stilde, rhotilde = _rotation(self._rhod, thetabar)
        self._theta = stilde * self._rhobar
        self._rhod = ctilde * self._rhobar
        self._betad = -stilde * self._betad + ctilde * hat
        self._tau = (zeta_before - theta_before * self._tau) / rhotilde
        last = (self._zeta - self._theta * self._tau) / self._rhod
        self._d += check * check
        self.normr = math.sqrt(self._d + (self._betad - last) ** 2 + self._betadd**2)
        self._squares += beta * beta
        self.norma = math.sqrt(self._squares)
        self._squares += alpha * alpha
        self._most = max(self._most, bar_before)
        if done > 1:
            self._least = min(self._least, bar_before)
        self.conda = max(self._most, small) / min(self._least, small)
        self.normar = abs(self._zetabar)
        ahead = thetabar * self._rho / (rho_before * bar_before)
        return ahead, self._zeta / (self._rho * self._rhobar), theta / self._rho

    def ended(self, of_x: float, last: bool) -> int:
        """Why to stop, as LSMR counts; 0 to go on."""
        product = self.norma * self.normr
        test1 = self.normr / self._of_b
        test2 = self.normar / product if product else math.inf
        test3 = 1 / self.conda
        scaled = self.norma * of_x / self._of_b
        reasons = (
            (1, test1 <= self._btol + self._atol * scaled), (2, test2 <= self._atol), (3, test3 <= self._ctol),
            (4, 1 + test1 / (1 + scaled) <= 1), (5, 1 + test2 <= 1), (6, 1 + test3 <= 1), (7, last),
        )  # fmt: skip
        return next((number for number, holds in reasons if holds), 0)


CONTENTS: dict[str, Any] = {"minres": minres, "lsmr": lsmr}
