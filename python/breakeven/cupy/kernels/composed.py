"""CuPy's functions that are made of other CuPy functions, where NumPy's or SciPy's own Python takes other steps."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import calls, sends, waits
from ..core.calls import cupy as _cupy
from . import kernels


def _as_one(name: str, home: str, of: str) -> Callable[..., Any]:
    """NumPy's or SciPy's function as one call that launches what `of` does."""

    def whole(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = sends.brought(f"cupyx.{home}.{name}", args, kwargs)
        function = getattr(importlib.import_module(home), name)
        out = kwargs.get("out")
        words = calls.plain(kwargs)
        told = {key: word for key, word in words.items() if key in ("axis", "axes", "keepdims")}
        if len(args) > 1 and isinstance(args[1], (int, tuple)) and home == "numpy":
            told["axis"] = args[1]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a GPU has none
            result = calls.run(of, lambda *values: function(*values, **words), calls.plain(args), {}, told)
        return out if out is not None else calls.wrapped(result)

    whole.__name__ = whole.__qualname__ = name
    return whole


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """The weighted mean; whether the weights vanish is read back."""
    cupy = _cupy()
    a = cupy.asarray(a)
    if weights is None:
        mean = a.mean(axis, keepdims=keepdims)
        if not returned:
            return mean
        return mean, cupy.full(mean.shape, mean.dtype.type(a.size / mean.size))
    weights = cupy.asarray(weights)
    if a.shape != weights.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        if weights.ndim != 1:
            raise TypeError("1D weights expected when shapes of a and weights differ.")
        if weights.shape[0] != a.shape[axis]:
            raise ValueError("Length of weights not compatible with specified axis.")
        weights = cupy.broadcast_to(weights, (a.ndim - 1) * (1,) + weights.shape).swapaxes(-1, axis)
    whole = issubclass(a.dtype.type, (np.integer, np.bool_))
    dtype = np.result_type(a.dtype, weights.dtype, "f8") if whole else np.result_type(a.dtype, weights.dtype)
    scale = weights.sum(axis=axis, dtype=dtype, keepdims=keepdims)
    if (scale == 0.0).any():
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    mean = cupy.multiply(a, weights, dtype=dtype).sum(axis, keepdims=keepdims) / scale
    return (mean, cupy.broadcast_to(scale, mean.shape).copy()) if returned else mean


def asfarray(a: Any, dtype: Any = np.float64) -> Any:
    """As `asarray`, whole numbers as fractions."""
    return _cupy().asarray(a, dtype if np.issubdtype(dtype, np.inexact) else np.float64)


def msort(a: Any) -> Any:
    """Columns in order."""
    warnings.warn("msort is deprecated, use cupy.sort(a, axis=0) instead", DeprecationWarning, stacklevel=1)
    return _cupy().sort(a, axis=0)


def argmax(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Where the largest element is."""
    return a.argmax(axis=axis, dtype=dtype, out=out, keepdims=keepdims)


def argmin(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Where the smallest element is."""
    return a.argmin(axis=axis, dtype=dtype, out=out, keepdims=keepdims)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Whether two arrays are the same: a comparison and a reduction."""
    cupy = _cupy()
    if a1.shape != a2.shape:
        return cupy.array(False)
    same = a1 == a2
    if equal_nan:
        same = same | (cupy.isnan(a1) & cupy.isnan(a2))
    return same.all()


def isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """Which elements are among others: these are put in order, and one kernel looks up."""
    cupy = _cupy()
    table = cupy.sort(cupy.asarray(test_elements).ravel())
    found = calls.run(
        "cupy.searchsorted", lambda t, e: np.isin(e, t, invert=invert), (table._a, cupy.asarray(element)._a), {}, {}
    )
    return calls.wrapped(found)


def union1d(arr1: Any, arr2: Any) -> Any:
    """What is in either array, in order."""
    cupy = _cupy()
    return cupy.unique(cupy.concatenate((arr1.ravel(), arr2.ravel())))


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """What is in the first array and not in the second."""
    cupy = _cupy()
    ar1, ar2 = (ar1.ravel(), ar2) if assume_unique else (cupy.unique(ar1), cupy.unique(ar2))
    return ar1[isin(ar1, ar2, assume_unique=True, invert=True)]


def _nan_extreme(name: str) -> Callable[..., Any]:
    """The largest or smallest number; whether a row has none is read back."""
    found = _as_one(f"nan{name}", "numpy", f"cupy.ndarray.{name}")

    def extreme(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        words = {"axis": axis, "keepdims": keepdims, **({} if out is None else {"out": out})}
        result = found(a, **words)
        if a.dtype.kind in "fc" and _cupy().isnan(result).any():
            warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=2)
        return result

    extreme.__name__ = extreme.__qualname__ = f"nan{name}"
    return extreme


def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """The area under a curve by the trapezoidal rule."""
    cupy = _cupy()
    for name, given in (("y", y), ("x", x)):
        if given is not None and not calls.is_device(given):
            raise TypeError(f"`{name}` should be of type cupy.ndarray")
    step: Any = dx
    if x is not None:
        step = cupy.diff(x, axis=axis if x.ndim > 1 else -1)
        if x.ndim == 1:
            shape = [1] * y.ndim
            shape[axis] = step.shape[0]
            step = step.reshape(shape)
    along = [slice(None)] * y.ndim
    after, before = list(along), list(along)
    after[axis], before[axis] = slice(1, None), slice(None, -1)
    sums = y[tuple(after)] + y[tuple(before)]
    return (step * sums / 2.0).sum(axis)


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    """The logarithm of a sum of exponentials, from the largest on."""
    if b is not None or return_sign:
        return _as_one("logsumexp", "scipy.special", "cupy.ndarray.sum")(
            a, axis=axis, b=b, keepdims=keepdims, return_sign=return_sign
        )
    cupy = _cupy()
    largest = a.max(axis=axis, keepdims=True)
    largest[~cupy.isfinite(largest)] = 0
    found = cupy.log(cupy.exp(a - largest).sum(axis=axis, keepdims=True)) + largest
    return found if keepdims else found.squeeze(axis)


def kron(a: Any, b: Any) -> Any:
    """Each element of a matrix times the whole of another."""
    return _cupy().kron(a, b)


def _kernel_of(function: Any, kinds: tuple[type, ...]) -> Any:
    """The kernel that a filter runs at each place; of CUDA source only breakeven could not tell what it does there."""
    if isinstance(function, kernels.ElementwiseKernel) and kernels.ReductionKernel in kinds:
        raise TypeError("only ReductionKernel allowed (not ElementwiseKernel)")
    if not isinstance(function, kinds):
        raise TypeError("bad function type")
    if isinstance(function, kernels.RawKernel):
        raise NotImplementedError(f"breakeven's stand-in for cupy cannot run CUDA kernel {function.name!r} in a filter")
    kernel: Any = function
    if kernel.nin != 1 or kernel.nout != 1:
        raise TypeError("ReductionKernel must have 1 input and output")
    return kernel


def generic_filter(
    input: Any, function: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: str = "reflect",
    cval: float = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    """A reduction of what lies around each element: one kernel, before which the host asks how many that are."""
    kernel = _kernel_of(function, (kernels.RawKernel, kernels.ReductionKernel))
    if axes is not None:
        raise NotImplementedError("breakeven's stand-in for cupy has no generic_filter along some axes only")
    ndimage = importlib.import_module("scipy.ndimage")
    around = np.ones(np.broadcast_to(size, input.ndim), bool) if footprint is None else calls.plain(footprint)
    kind = output if isinstance(output, (str, type, np.dtype)) else input.dtype
    told: dict[str, Any] = {"n": input.size}
    calls.read(waits.TOLD)

    def compute(image: Any, *_: Any) -> Any:
        spots = (np.arange(around.size).reshape(around.shape) == place for place in np.flatnonzero(around))
        seen = [ndimage.correlate(image, spot, image.dtype, mode, cval, origin) for spot in spots]
        own = kernel.in_params[0].kind == kernel.out_params[0].kind
        outs = [] if own else [np.empty(image.shape, kind)]
        return kernel._of_plain([np.stack(seen)], outs, 0, False, told)[0].astype(kind)

    found = calls.wrapped(calls.run("cupy.ReductionKernel", compute, (calls.plain(input),), {}, told))
    if not calls.is_device(output):
        return found
    output[...] = found
    return output


def generic_filter1d(input: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Takes CUDA source alone."""
    _kernel_of(function, (kernels.RawKernel,))


def _along(axes: Any, mode: Any, input: Any) -> list[tuple[int, str]]:
    """Each axis of a filter, with what it makes of the border there."""
    whole = tuple(range(input.ndim)) if axes is None else (axes,) if np.isscalar(axes) else tuple(axes)
    modes = [mode] * len(whole) if isinstance(mode, str) else list(mode)
    if len(modes) != len(whole):
        raise RuntimeError("mode must have length equal to input rank")
    return [(axis % input.ndim, of) for axis, of in zip(whole, modes)]


def _room(output: Any, input: Any) -> Any:
    """The array for the result of a filter."""
    if output is None or isinstance(output, (str, type, np.dtype)):
        return _cupy().empty(input.shape, input.dtype if output is None else output)
    if output.shape != input.shape:
        raise RuntimeError("output shape not correct")
    return output


def _by_axes(
    input: Any, function: Callable[..., Any], output: Any, axes: Any, mode: Any, given: tuple[Any, ...], words: Any,
    squared: bool,
) -> tuple[Any, bool]:  # fmt: skip
    """The sum, or sum of squares, of what a function of the program's makes along each axis; and whether there is
    any axis: without, it is the input."""
    output, along = _room(output, input), _along(axes, mode, input)
    if not along:
        output[...] = input
    for place, (axis, of) in enumerate(along):
        part = output if place == 0 else _cupy().empty(input.shape, output.dtype)
        function(input, axis, part, of, *given, **(words or {}))
        if squared:
            part *= part
        if place:
            output += part
    return output, bool(along)


def generic_laplace(
    input: Any, derivative2: Any, output: Any = None, mode: Any = "reflect", cval: float = 0.0,
    extra_arguments: Any = (), extra_keywords: Any = None, *, axes: Any = None,
) -> Any:  # fmt: skip
    """The sum of second derivatives, which the program's function gives."""
    return _by_axes(input, derivative2, output, axes, mode, (cval, *extra_arguments), extra_keywords, False)[0]


def generic_gradient_magnitude(
    input: Any, derivative: Any, output: Any = None, mode: Any = "reflect", cval: float = 0.0,
    extra_arguments: Any = (), extra_keywords: Any = None, *, axes: Any = None,
) -> Any:  # fmt: skip
    """The root of the sum of squared derivatives, which the program's function gives."""
    found, any_axis = _by_axes(input, derivative, output, axes, mode, (cval, *extra_arguments), extra_keywords, True)
    return _cupy().sqrt(found, found, casting="unsafe") if any_axis else found


#: By module and name. What NumPy does to leave out what is no number CuPy has within its reductions.
CONTENTS: dict[str, dict[str, Any]] = {
    "cupy": {
        "argmax": argmax, "argmin": argmin, "asfarray": asfarray, "msort": msort,
        "average": average, "array_equal": array_equal, "isin": isin, "in1d": isin, "union1d": union1d,
        "setdiff1d": setdiff1d, "trapezoid": trapezoid, "trapz": trapezoid,
        **{f"nan{name}": _nan_extreme(name) for name in ("max", "min")},
        **{f"nan{name}": _as_one(f"nan{name}", "numpy", f"cupy.ndarray.{of}") for name, of in (
            ("sum", "sum"), ("prod", "prod"), ("mean", "sum"), ("var", "var"), ("std", "std"),
        )},
    },
    "cupyx.scipy.linalg": {"kron": kron},
    "cupyx.scipy.special": {"logsumexp": logsumexp},
    "cupyx.scipy.ndimage": {
        "generic_filter": generic_filter, "generic_filter1d": generic_filter1d, "generic_laplace": generic_laplace,
        "generic_gradient_magnitude": generic_gradient_magnitude,
    },
    # A window over all segments at once, one transform of them, and a mean.
    "cupyx.scipy.signal": {
        name: _as_one(name, "scipy.signal", "cupy.fft.rfft")
        for name in ("welch", "csd", "periodogram", "spectrogram", "coherence", "stft")
    },
}  # fmt: skip
