"""The wavelets of `cupyx.scipy.signal`, which SciPy has no longer: a kernel each."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.calls import cupy as _cupy
from ..kernels.kernels import ElementwiseKernel

_DEPRECATED = (
    "Following the change in SciPy 1.12, all wavelet functions have been deprecated in CuPy v14 and are planned to be "
    "removed in the future. To request continued support of the features, please leave a comment at "
    "https://github.com/cupy/cupy/issues/8864."
)
_QMF = ElementwiseKernel(
    "raw T coef", "T output", "output = coef[_ind.size() - (i + 1)] * (i & 1 ? -1 : 1)", "_qmf_kernel"
)
_MORLET = ElementwiseKernel(
    "float64 w, float64 s, bool complete", "complex128 output",
    """double end = s * 2.0 * M_PI, x = -end + 2 * end / (_ind.size() - 1) * i;
    complex<double> wave = exp(complex<double>(0, w * x));
    if (complete) wave -= exp(-0.5 * (w * w));
    output = wave * exp(-0.5 * (x * x)) * pow(M_PI, -0.25);""",
    "_morlet_kernel",
)  # fmt: skip
_MORLET2 = ElementwiseKernel(
    "float64 w, float64 s", "complex128 output",
    """double x = (i - (_ind.size() - 1.0) * 0.5) / s;
    output = sqrt(1 / s) * exp(complex<double>(0, w * x)) * exp(-0.5 * (x * x)) * pow(M_PI, -0.25);""",
    "_morlet_kernel",
)  # fmt: skip
_RICKER = ElementwiseKernel(
    "float64 a", "float64 total",
    """double at = i - (_ind.size() - 1.0) * 0.5, square = at * at / (a * a);
    total = 2.0 / (sqrt(3 * a) * pow(M_PI, 0.25)) * (1 - square) * exp(-square / 2);""",
    "_ricker_kernel",
)  # fmt: skip


def _warn() -> None:
    warnings.warn(_DEPRECATED, np.exceptions.VisibleDeprecationWarning, stacklevel=3)


def qmf(hk: Any) -> Any:
    """The high-pass filter of a low-pass one."""
    _warn()
    hk = _cupy().asarray(hk)
    return _QMF(hk, size=len(hk))


def morlet(M: int, w: float = 5.0, s: float = 1.0, complete: bool = True) -> Any:
    """Morlet's wavelet."""
    _warn()
    return _MORLET(w, s, complete, size=M)


def morlet2(M: int, s: float, w: float = 5) -> Any:
    """The same for `cwt`."""
    _warn()
    return _MORLET2(w, s, size=int(M))


def ricker(points: int, a: float) -> Any:
    """The second derivative of a bell."""
    _warn()
    return _RICKER(a, size=int(points))


def cwt(data: Any, wavelet: Callable[..., Any], widths: Any) -> Any:
    """The data convolved with a wavelet of each width."""
    _warn()
    cupy, signal = _cupy(), sys.modules["cupyx.scipy.signal"]
    kind = cupy.complex128 if cupy.asarray(wavelet(1, 1)).dtype.char in "FDG" else cupy.float64
    found = cupy.empty([len(widths), len(data)], dtype=kind)
    for place, width in enumerate(widths):
        length = min(10 * int(width), len(data))
        found[place, :] = signal.convolve(data, cupy.conj(wavelet(length, int(width)))[::-1], mode="same")
    return found


CONTENTS: dict[str, Any] = {function.__name__: function for function in (qmf, morlet, morlet2, ricker, cwt)}
