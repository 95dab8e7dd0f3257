"""`cupy.polynomial`: polynomials by their coefficients on the device, lowest power first."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..core.calls import cupy as _cupy


def _degree(deg: Any) -> int:
    try:
        whole = operator.index(deg)
    except TypeError:
        whole = int(deg)
        if whole != deg:
            raise TypeError("deg must be an integer") from None
    if whole < 0:
        raise ValueError("degree must be non-negative")
    return whole


def polyvander(x: Any, deg: Any) -> Any:
    """The powers of each point, along a new last axis."""
    cupy, deg = _cupy(), _degree(deg)
    x = x.ravel() if x.ndim == 0 else x
    powers = cupy.arange(deg + 1, dtype=np.float64 if x.dtype.kind in "biu" else x.dtype)
    return cupy.moveaxis(x ** powers.reshape((-1,) + (1,) * x.ndim), 0, -1)


def polycompanion(c: Any) -> Any:
    """The matrix whose eigenvalues are the roots."""
    (c,) = as_series([c])
    if c.size == 1:
        raise ValueError("Series must have maximum degree of at least 1.")
    matrix = _cupy().eye(c.size - 1, k=-1, dtype=c.dtype)
    matrix[:, -1] -= c[:-1] / c[-1]
    return matrix


def polyval(x: Any, c: Any, tensor: bool = True) -> Any:
    """The values at points, by Horner's scheme."""
    cupy = _cupy()
    c = cupy.array(c, ndmin=1, copy=False)
    if c.dtype.kind in "biu":
        c = c + 0.0
    if isinstance(x, (tuple, list)):
        x = cupy.asarray(x)
    if isinstance(x, cupy.ndarray) and tensor:
        c = c.reshape(c.shape + (1,) * x.ndim)
    found = c[-1] + x * 0
    for place in range(2, len(c) + 1):
        found = c[-place] + found * x
    return found


def polyvalfromroots(x: Any, r: Any, tensor: bool = True) -> Any:
    """The values at points of a polynomial with these roots."""
    cupy = _cupy()
    r = cupy.array(r, ndmin=1, copy=False)
    if r.dtype.kind in "biu":
        r = r.astype(np.float64)
    if isinstance(x, (tuple, list)):
        x = cupy.asarray(x)
    if isinstance(x, cupy.ndarray):
        if tensor:
            r = r.reshape(r.shape + (1,) * x.ndim)
        elif x.ndim >= r.ndim:
            raise ValueError("x.ndim must be < r.ndim when tensor == False")
    return cupy.prod(x - r, axis=0)


def trimseq(seq: Any) -> Any:
    """Without zeros at the end, of which the host asks; at least the first coefficient."""
    if seq.ndim != 1:
        raise (ValueError if seq.ndim else TypeError)("Input must be 1-d array")
    if seq.size == 0:
        return seq
    kept = _cupy().trim_zeros(seq, trim="b")
    return kept if kept.size else seq[:1]


def as_series(alist: Any, trim: bool = True) -> list[Any]:
    """Arrays of one dim and one type."""
    arrays = []
    for a in alist:
        _check(a, "Coefficient arrays have no common type")
        arrays.append(trimseq(a.ravel()) if trim else a.ravel())
    kind = _cupy().common_type(*arrays)
    return [a.astype(kind, copy=False) for a in arrays]


def trimcoef(c: Any, tol: Any = 0) -> Any:
    """Without what is no larger than `tol` at the end, of which the host asks."""
    cupy = _cupy()
    if tol < 0:
        raise ValueError("tol must be non-negative")
    _check(c, "bool inputs are not allowed")
    c = c.ravel() if c.ndim == 0 else c
    c = c.astype(cupy.common_type(c), copy=False)
    kept = cupy.trim_zeros(cupy.abs(c) > tol, trim="b").size
    return c[:kept] if kept else cupy.zeros_like(c[:1])


def _check(a: Any, truths: str) -> None:
    if a.size == 0:
        raise ValueError("Coefficient array is empty")
    if a.ndim > 1:
        raise ValueError("Coefficient array is not 1-d")
    if a.dtype.kind == "b":
        raise ValueError(truths)


#: By module and name.
CONTENTS: dict[str, dict[str, Any]] = {
    "cupy.polynomial.polynomial": {
        "polyvander": polyvander, "polycompanion": polycompanion,
        "polyval": polyval, "polyvalfromroots": polyvalfromroots,
    },
    "cupy.polynomial.polyutils": {"trimseq": trimseq, "as_series": as_series, "trimcoef": trimcoef},
}  # fmt: skip
