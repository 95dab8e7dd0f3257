"""`cupy.poly1d`: a polynomial by its coefficients on the device, highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import calls, shared
from ..core.calls import cupy as _cupy


class poly1d:
    """A polynomial in one variable. Its leading zeros are looked for on the device, and how many is read back."""

    __module__ = "cupy"
    __hash__ = None  # type: ignore[assignment]
    _coeffs: Any
    _variable: str

    def __init__(self, c_or_r: Any, r: bool = False, variable: str | None = None) -> None:
        if isinstance(c_or_r, poly1d):
            self._coeffs, self._variable = c_or_r._coeffs, variable or c_or_r._variable
            return
        if isinstance(c_or_r, np.poly1d):
            c_or_r = c_or_r.coeffs
        cupy = _cupy()
        given = cupy.atleast_1d(cupy.asarray(c_or_r))
        if r:
            given = cupy.poly(given)
        if given.ndim > 1:
            raise ValueError("Polynomial must be 1d only.")
        leading = calls.run(
            "cupy.ReductionKernel", _leading_zeros, (given._a,), {}, {"n": given.size, "functions": "add"}
        )
        calls.read(leading)
        kept = shared.quietly(int, leading)
        self._coeffs = given[kept:] if kept < given.size else cupy.zeros(1, given.dtype)
        self._variable = variable or "x"

    @property
    def coeffs(self) -> Any:
        return self._coeffs

    @coeffs.setter
    def coeffs(self, value: Any) -> None:
        if value is not self._coeffs:
            raise AttributeError("Cannot set attribute")

    c = coef = coefficients = coeffs

    @property
    def order(self) -> int:
        return self._coeffs.size - 1  # type: ignore[no-any-return]

    o = order

    @property
    def variable(self) -> str:
        return self._variable

    @property
    def roots(self) -> Any:
        return _cupy().roots(self._coeffs)

    r = roots

    def __call__(self, val: Any) -> Any:
        return _cupy().polyval(self._coeffs, val)

    def get(self, stream: Any = None, out: Any = None) -> Any:
        """The same as NumPy's, on the host."""
        coeffs = self._coeffs.get()
        return shared.quietly(np.poly1d, coeffs, variable=self._variable)

    def deriv(self, m: int = 1) -> Any:
        raise NotImplementedError  # as CuPy does

    def integ(self, m: int = 1, k: int = 0) -> Any:
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return poly1d(_padded_sum(self._coeffs, _coefficients(other), 1))

    def __sub__(self, other: Any) -> Any:
        return poly1d(_padded_sum(self._coeffs, _coefficients(other), -1))

    def __rsub__(self, other: Any) -> Any:
        return poly1d(_padded_sum(_coefficients(other), self._coeffs, -1))

    def __mul__(self, other: Any) -> Any:
        if np.isscalar(other):
            return poly1d(self._coeffs * other)
        return poly1d(_cupy().convolve(self._coeffs, _coefficients(other)))

    def __truediv__(self, other: Any) -> Any:
        if not np.isscalar(other):
            raise NotImplementedError("poly1d division is not supported")
        return poly1d(self._coeffs / other)

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, power: int) -> Any:
        if not isinstance(power, int) or power < 0:
            raise ValueError("Power to non-negative integers only.")
        found = poly1d(_cupy().ones(1, self._coeffs.dtype))
        for _ in range(power):
            found = found * self
        return found

    def __neg__(self) -> Any:
        return poly1d(-self._coeffs)

    def __pos__(self) -> Any:
        return self

    def __len__(self) -> int:
        return self.order

    def __getitem__(self, power: int) -> Any:
        if 0 <= power <= self.order:
            return self._coeffs[self.order - power]
        return _cupy().zeros((), self._coeffs.dtype)

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, poly1d):
            raise TypeError("unsupported operand type(s) for ==")
        return self._coeffs.shape == other._coeffs.shape and bool((self._coeffs == other._coeffs).all())

    def __str__(self) -> str:
        return str(self.get())

    def __repr__(self) -> str:
        return repr(self.get())


def _leading_zeros(coefficients: Any) -> Any:
    used = np.flatnonzero(coefficients)
    return np.asarray(used[0] if used.size else coefficients.size)


def _coefficients(value: Any) -> Any:
    cupy = _cupy()
    return value._coeffs if isinstance(value, poly1d) else cupy.atleast_1d(cupy.asarray(value))


def _padded_sum(a: Any, b: Any, sign: int) -> Any:
    cupy = _cupy()
    size = max(a.size, b.size)
    a, b = (cupy.pad(item, (size - item.size, 0)) for item in (a, b))
    return a + b if sign > 0 else a - b
