"""What CuPy's own functions copy to the device: filters make their weights on the host, one copy for each axis; others
take what the host has as an argument.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from . import calls

_ELEMENT = 8


def _gaussian(image: Any, args: tuple[Any, ...], words: dict[str, Any]) -> list[int]:
    sigma = words.get("sigma", args[1] if len(args) > 1 else 1.0)
    truncate = float(words.get("truncate", args[6] if len(args) > 6 else 4.0))
    radius = words.get("radius")
    sigmas = list(sigma) if isinstance(sigma, (list, tuple)) else [sigma] * image.ndim
    found = []
    for axis, width in enumerate(sigmas):
        if float(width) > 1e-15:
            told = radius[axis] if isinstance(radius, (list, tuple)) else radius
            reach = int(truncate * float(width) + 0.5) if told is None else int(told)
            if reach > 0:
                found.append((2 * reach + 1) * _ELEMENT)
    return found


def _gaussian_line(image: Any, args: tuple[Any, ...], words: dict[str, Any]) -> list[int]:
    sigma = words.get("sigma", args[1] if len(args) > 1 else 1.0)
    return _gaussian(image, (image, [sigma]), {key: words[key] for key in ("truncate", "radius") if key in words})


def _each_axis(image: Any, args: tuple[Any, ...], words: dict[str, Any]) -> list[int]:
    return _gaussian(image, args[:2], words) * int(image.ndim)


def _weights(copies: int) -> Callable[[Any, tuple[Any, ...], dict[str, Any]], list[int]]:
    return lambda image, args, words: [3 * _ELEMENT] * copies


def _prepared(image: Any, args: tuple[Any, ...], words: dict[str, Any], place: int = 3) -> list[int]:
    """Before splines of order 2 or more, the shape, for each axis; the order is the argument at `place`."""
    order = int(words.get("order", args[place] if len(args) > place else 3))
    prefilter = words.get("prefilter", args[place + 3] if len(args) > place + 3 else True)
    return [4 * (2 + image.ndim) for length in image.shape if length > 1] if order > 1 and prefilter else []


def _splines(image: Any, args: tuple[Any, ...], words: dict[str, Any]) -> list[int]:
    """And how far to move or zoom."""
    kind = np.float32 if image.dtype.kind in "iu" else np.promote_types(image.real.dtype, np.float32)
    return [*_prepared(image, args, words), image.ndim * np.dtype(kind).itemsize]


def _affine(image: Any, args: tuple[Any, ...], words: dict[str, Any]) -> list[int]:
    """And the offset, unless it is part of the matrix or on the device."""
    matrix = words.get("matrix", args[1] if len(args) > 1 else None)
    offset = words.get("offset", args[2] if len(args) > 2 else 0.0)
    whole = matrix is not None and matrix.ndim == 2 and matrix.shape[1] == image.ndim + 1
    return [*_prepared(image, args, words, 5), *([] if whole or calls.is_device(offset) else [image.ndim * _ELEMENT])]


def _rotated(image: Any, args: tuple[Any, ...], words: dict[str, Any]) -> list[int]:
    """The matrix and the offset first."""
    return [image.ndim**2 * _ELEMENT, image.ndim * _ELEMENT, *_prepared(image, args, words, 5)]


def _labels(image: Any, args: tuple[Any, ...], words: dict[str, Any]) -> list[int]:
    """Steps to the neighbours that come before an element, and the shape."""
    structure = words.get("structure", args[1] if len(args) > 1 else None)
    if image.ndim == 0 or image.size == 0:
        return []
    before = (
        image.ndim if structure is None else int(np.count_nonzero(np.asarray(structure).ravel()[: 3**image.ndim // 2]))
    )
    return [4 * before * image.ndim, 4 * image.ndim]


_FILTERS: dict[str, Callable[[Any, tuple[Any, ...], dict[str, Any]], list[int]]] = {
    "gaussian_filter": _gaussian,
    "gaussian_filter1d": _gaussian_line,
    "gaussian_laplace": _each_axis,
    "gaussian_gradient_magnitude": _each_axis,
    "sobel": _weights(2),
    "prewitt": _weights(1),
    "laplace": _weights(1),
    "shift": _splines,
    "zoom": _splines,
    "map_coordinates": _prepared,
    "affine_transform": _affine,
    "rotate": _rotated,
    "label": _labels,
}
NAMES = frozenset(f"cupyx.scipy.ndimage.{name}" for name in _FILTERS)


def sent(name: str, args: tuple[Any, ...], words: dict[str, Any]) -> list[int]:
    """Bytes of each copy that a call with these plain arguments makes."""
    return _FILTERS[name.rpartition(".")[2]](args[0], args, words) if args else []


#: Functions that look at an argument on the host: its place and name, and how they read what is on the device: `whole`,
#: `each` number, or `never`.
LOOKED_AT: dict[str, tuple[int, str, str]] = {
    f"cupyx.scipy.ndimage.{name}": (place, word, read)
    for names, place, word, read in (
        ("label", 1, "structure", "whole"),
        ("gaussian_filter gaussian_filter1d gaussian_laplace gaussian_gradient_magnitude", 1, "sigma", "each"),
        ("uniform_filter median_filter minimum_filter maximum_filter grey_erosion grey_dilation grey_opening "
         "grey_closing", 1,
         "size", "each"),
        ("rank_filter percentile_filter", 2, "size", "each"),
        ("zoom", 1, "zoom", "each"),
        ("shift", 1, "shift", "each"),
        ("fourier_gaussian", 1, "sigma", "never"),
        ("fourier_shift", 1, "shift", "never"),
        ("fourier_uniform fourier_ellipsoid", 1, "size", "never"),
    )
    for name in names.split()
}  # fmt: skip


def look(name: str, args: tuple[Any, ...], words: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of one of these functions, that one as the host has it."""
    place, word, read = LOOKED_AT[name]
    value: Any = args[place] if len(args) > place else words.get(word)
    if isinstance(value, (np.ndarray, np.generic)):
        listed = value.tolist()
    elif not calls.is_device(value) or read == "never":
        return args, words
    elif read == "whole":
        listed = value.get().tolist()
    else:
        listed = [one._scalar() for one in value] if value.ndim else value.item()
    if len(args) > place:
        return (*args[:place], listed, *args[place + 1 :]), words
    return args, {**words, word: listed}


_WEIGHTED = ("convolve", "correlate", "convolve1d", "correlate1d")
_SHAPED = ("erosion", "dilation", "opening", "closing", "propagation", "fill_holes")
#: Functions that bring arguments to the device: place and name of each, whether they do so with a single number, and
#: the place of what has the type that it gets there, where that is not its own.
BROUGHT: dict[str, list[tuple[int, str, bool, int | None]]] = {
    "cupy.percentile": [(1, "q", False, None)],  # what fills a number in is among their kernels
    "cupy.quantile": [(1, "q", False, None)],
    "cupy.append": [(0, "arr", True, None), (1, "values", True, None)],
    "cupy.unique": [(0, "ar", False, None)],
    "cupy.resize": [(0, "a", True, None)],
    "cupy.unwrap": [(0, "p", False, None)],
    "cupy.place": [(1, "mask", False, None), (2, "vals", True, None)],
    "cupy.cross": [(0, "a", False, None), (1, "b", False, None)],
    "cupy.linspace": [(0, "start", False, None), (1, "stop", False, None)],
    "cupy.polyval": [(1, "x", False, None)],
    "cupy.asarray_chkfinite": [(0, "a", False, None)],
    "cupy.delete": [(1, "indices", False, None)],
    "cupy.tril": [(0, "m", False, None)],
    "cupy.triu": [(0, "m", False, None)],
    "cupy.vander": [(0, "x", False, None)],
    "cupy.take": [(1, "indices", False, None)],
    "cupy.histogram": [(1, "bins", False, None)],
    "cupy.put": [(1, "ind", True, None), (2, "v", True, 0)],
    "cupy.interp": [(3, "left", True, 2), (4, "right", True, 2)],
    **{f"cupyx.scipy.linalg.{name}": [(0, "a", False, None)] for name in ("bandwidth", "lu", "lu_factor")},
    **{f"cupyx.scipy.ndimage.{name}": [(1, "weights", False, None)] for name in _WEIGHTED},
    **{f"cupyx.scipy.ndimage.binary_{name}": [(1, "structure", False, None)] for name in _SHAPED},
    "cupyx.scipy.ndimage.binary_hit_or_miss": [(1, "structure1", False, None), (2, "structure2", False, None)],
}


#: Functions of `cupyx.scipy.signal` that bring their arguments at these places.
_SIGNALS = {
    "upfirdn": "h x", "filtfilt": "b a x", "detrend": "data", "welch": "x", "periodogram": "x", "spectrogram": "x",
    "stft": "x",
    "istft": "Zxx", "csd": "x y", "coherence": "x y", "lombscargle": "x y freqs", "decimate": "x", "resample": "x",
    "savgol_filter": "x", "resample_poly": "x", "vectorstrength": "events period",
}  # fmt: skip
#: And of `cupyx.scipy.interpolate`, the classes when they are made.
_INTERPOLATORS = {
    **dict.fromkeys(("CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "interp1d"), "x y"),
    **dict.fromkeys(("PPoly", "BPoly"), "c x"),
    **dict.fromkeys(("LinearNDInterpolator", "CloughTocher2DInterpolator", "NearestNDInterpolator"), "points values"),
    "CubicHermiteSpline": "x y dydx", "BSpline": "t c", "make_lsq_spline": "x y t", "pchip_interpolate": "xi yi x",
    "RBFInterpolator": "y d", "RegularGridInterpolator": "points",
}  # fmt: skip
_CALLED = [*_INTERPOLATORS, "BarycentricInterpolator", "KroghInterpolator"]


def _placed(words: str) -> list[tuple[int, str, bool, int | None]]:
    return [(place, word, False, None) for place, word in enumerate(words.split())]


BROUGHT.update(
    {
        **{f"cupyx.scipy.signal.{name}": _placed(words) for name, words in _SIGNALS.items()},
        **{f"cupyx.scipy.interpolate.{name}": _placed(words) for name, words in _INTERPOLATORS.items()},
        **{f"cupyx.scipy.interpolate.{name}.__call__": [(0, "x", True, None)] for name in _CALLED},
        "cupyx.scipy.interpolate.make_interp_spline": [*_placed("x y"), (3, "t", False, None)],
        "cupyx.scipy.interpolate.interpn": [(0, "points", False, None), (2, "xi", False, None)],
    }
)
#: What may be several arrays, each of which is brought.
_SEVERAL = frozenset(["points"])


def _copied(value: Any, kind: Any) -> Any:
    return value if calls.is_device(value) else calls.wrapped(calls.copied_in(np.asarray(value, kind)))


def brought(name: str, args: tuple[Any, ...], words: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a function, those on the device that it brings there."""
    for place, word, numbers, like in BROUGHT.get(name, ()) if words.get("period") is None else ():
        value = args[place] if len(args) > place else words.get(word)
        kind = args[like].dtype if like is not None and len(args) > like else None
        if isinstance(value, (list, tuple, np.ndarray)):
            several = word in _SEVERAL and type(value) in (list, tuple)
            there = tuple(_copied(item, kind) for item in value) if several else _copied(value, kind)
            if len(args) > place:
                args = (*args[:place], there, *args[place + 1 :])
            else:
                words = {**words, word: there}
        elif numbers and isinstance(value, (int, float, complex, np.generic)):
            calls.copy_in("cupy.array", functools.partial(np.array, value, kind))
    return args, words
