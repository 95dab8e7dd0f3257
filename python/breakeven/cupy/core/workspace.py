"""What CuPy takes from its pool for the time of one call, beside the result.

Seen on an H200 with CuPy 14.2, arrays of a million elements and matrices of 1024 rows: multiples of the first array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_Factor = float | Callable[[Any, dict[str, Any]], float]


def _sorting(flat: float, rows: float) -> Callable[[Any, dict[str, Any]], float]:
    """Rows are sorted with an array of their numbers; along another axis there is a copy, too."""

    def factor(array: Any, words: dict[str, Any]) -> float:
        axis = words.get("axis", -1)
        return flat if array.ndim < 2 or axis is None else rows + (axis not in (-1, array.ndim - 1))

    return factor


def _ordering(array: Any, words: dict[str, Any]) -> float:
    return 2.0 if array.ndim < 2 or words.get("axis") is None else 4.0


def _transform(array: Any, words: dict[str, Any]) -> float:
    """Real values become complex first; another axis than the last costs a copy."""
    real = 0.0 if array.dtype.kind == "c" else 2.0
    return real + (2.0 if words.get("axis", -1) not in (-1, array.ndim - 1) else 0.0)


def _norm(array: Any, words: dict[str, Any]) -> float:
    return 1.0 if words.get("axis") is None and words.get("ord") is None else 0.0


def _spline(array: Any, words: dict[str, Any]) -> float:
    return 1.0 if words.get("order", 3) > 1 and words.get("prefilter", True) else 0.0


_FACTORS: dict[str, _Factor] = {
    **dict.fromkeys(("cupy.sort", "cupy.ndarray.sort"), _sorting(1, 3)),
    **dict.fromkeys(("cupy.argsort", "cupy.ndarray.argsort"), _sorting(3, 5)),
    **dict.fromkeys(("cupy.median", "cupy.percentile", "cupy.quantile"), _ordering),
    **dict.fromkeys(
        [f"cupy.fft.{name}" for name in "fft ifft fft2 ifft2 fftn ifftn".split()]
        + [f"cupyx.scipy.fft.{name}" for name in "fft ifft fft2 ifft2 fftn ifftn".split()],
        _transform,
    ),
    **dict.fromkeys([f"cupy.fft.{name}" for name in "irfft irfft2 irfftn".split()], 1.0),
    "cupy.linalg.norm": _norm,
    **dict.fromkeys([f"cupy.linalg.{name}" for name in "inv solve det slogdet matrix_power".split()], 1.0),
    "cupy.linalg.qr": 1.9,
    "cupy.unique": 2.0,
    "cupy.interp": 1.0,
    "cupy.convolve": 4.0,
    **dict.fromkeys(("cupyx.scipy.signal.fftconvolve", "cupyx.scipy.signal.convolve"), 4.0),
    "cupyx.scipy.signal.hilbert": 6.0,
    "cupyx.scipy.special.logsumexp": 2.0,
    "cupyx.scipy.special.softmax": 1.0,
    "cupyx.scipy.fft.dct": 3.0,
    **dict.fromkeys(
        [
            f"cupyx.scipy.ndimage.{name}"
            for name in "gaussian_filter uniform_filter sobel prewitt laplace maximum_filter minimum_filter "
                        "center_of_mass".split()
        ],
        1.0,
    ),
    **dict.fromkeys(
        [f"cupyx.scipy.ndimage.{name}" for name in "zoom rotate shift affine_transform map_coordinates".split()],
        _spline,
    ),
    **dict.fromkeys(("cupy.cov", "cupy.corrcoef"), 1.0),
    "cupy.gradient": 2.0,
    **dict.fromkeys(("cupy.allclose", "cupy.array_equal"), 0.125),
}


NAMES = frozenset([*_FACTORS, "cupy.extract", "cupy.matmul", "cupy.dot", "cupy.tensordot"])


def _laid(array: Any) -> bool:
    """Whether the rows or columns of a matrix lie one after another; if not, a product copies it."""
    return array.ndim < 2 or bool(array.flags.c_contiguous or array.flags.f_contiguous or array.ndim > 2)


def needed(name: str, args: tuple[Any, ...], words: dict[str, Any]) -> int:
    """Bytes beside the result, of a call with these plain arguments."""
    if name == "cupy.extract" and args:
        return int(args[0].size) * 4  # where each chosen element goes
    if name in ("cupy.matmul", "cupy.dot", "cupy.tensordot"):
        return sum(arg.nbytes for arg in args if isinstance(arg, np.ndarray) and not _laid(arg))
    factor = _FACTORS.get(name)
    if factor is None or not args or not isinstance(args[0], np.ndarray):
        return 0
    return int((factor(args[0], words) if callable(factor) else factor) * args[0].nbytes)
