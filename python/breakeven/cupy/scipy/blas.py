"""Calls that CuPy's own functions make of cuBLAS, on arrays of the device and within them: kernels of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import calls, shared

#: Kernels of each, as cuBLAS has them: products are summed in two.
_NORM, _DOT, _VECTOR = {"kernels": 1}, {"kernels": 2}, {"kernels": 1}


def nrm2(x: Any, out: Any = None, at: int = 0) -> Any:
    """The norm of a vector; as element `at` of another, if that is given."""

    def compute(a: Any, *_: Any) -> Any:
        found = np.asarray(np.linalg.norm(a), a.real.dtype)
        if out is None:
            return found
        out._a[at] = found
        return ()

    return calls.wrapped(calls.run("cupy.linalg.norm", compute, (x._a,), {}, _NORM))


def dotc(x: Any, y: Any, out: Any, at: int) -> None:
    """The product of two vectors, the first conjugated, as element `at` of another."""

    def compute(a: Any, b: Any) -> Any:
        out._a[at] = np.vdot(a, b)
        return ()

    calls.run("cupy.vdot", compute, (x._a, y._a), {}, _DOT)


def axpy(factor: Any, x: Any, y: Any, at: int = 0) -> None:
    """Adds a multiple of one vector to another; the factor is a number, or element `at` of an array of the device."""

    def compute(a: Any, b: Any) -> Any:
        times = factor._a.reshape(-1)[at] if calls.is_device(factor) else factor
        if times != 0:  # what memory holds that nobody has written may be no number
            b += times * a
        return b

    calls.run("cupy.ElementwiseKernel", compute, (x._a, y._a), {}, {"n": y.size, "functions": "fma"})


def gemv(rows: int, matrix: Any, x: Any, out: Any) -> None:
    """The products of so many rows of a matrix, conjugated, and a vector, into the first elements of another."""

    def compute(a: Any, b: Any) -> Any:
        out._a[:rows] = a.conj() @ b
        return ()

    calls.run("cupy.matmul", compute, (shared.quietly(matrix._a.__getitem__, slice(rows)), x._a), {}, _VECTOR)


def gemv_away(rows: int, matrix: Any, x: Any, y: Any) -> None:
    """Takes the sum of so many rows of a matrix, as many times as the elements of a vector say, away from another."""

    def compute(a: Any, b: Any) -> Any:
        y._a[...] -= a @ b
        return ()

    part = shared.quietly(lambda: (matrix._a[:rows].T, x._a[:rows]))
    calls.run("cupy.matmul", compute, part, {}, _VECTOR)
