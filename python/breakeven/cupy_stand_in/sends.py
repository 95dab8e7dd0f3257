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
    before = image.ndim if structure is None else int(np.count_nonzero(np.asarray(structure).ravel()[: 3**image.ndim // 2]))
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


#: Functions that look at an argument on the host: its place and name.
LOOKED_AT = {"cupyx.scipy.ndimage.label": (1, "structure")}


def look(name: str, args: tuple[Any, ...], words: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of one of these functions, that one as the host has it."""
    place, word = LOOKED_AT[name]
    value: Any = args[place] if len(args) > place else words.get(word)
    if isinstance(value, np.ndarray) or calls.is_device(value):
        listed = (value.get() if calls.is_device(value) else value).tolist()
        if len(args) > place:
            return (*args[:place], listed, *args[place + 1 :]), words
        return args, {**words, word: listed}
    return args, words


_WEIGHTED = ("convolve", "correlate", "convolve1d", "correlate1d")
_RANKING = ("median", "minimum", "maximum")
_SHAPED = ("erosion", "dilation", "opening", "closing")
#: Functions that bring arguments to the device: place and name of each, whether they do so with a single number, and the
#: place of what has the type that it gets there, where that is not its own.
BROUGHT: dict[str, list[tuple[int, str, bool, int | None]]] = {
    "cupy.percentile": [(1, "q", True, None)],
    "cupy.quantile": [(1, "q", True, None)],
    "cupy.append": [(1, "values", True, None)],
    "cupy.delete": [(1, "indices", False, None)],
    "cupy.tril": [(0, "m", False, None)],
    "cupy.triu": [(0, "m", False, None)],
    "cupy.vander": [(0, "x", False, None)],
    "cupy.take": [(1, "indices", False, None)],
    "cupy.histogram": [(1, "bins", False, None)],
    "cupy.put": [(1, "ind", True, None), (2, "v", True, 0)],
    "cupy.interp": [(3, "left", True, 2), (4, "right", True, 2)],
    **{f"cupyx.scipy.ndimage.{name}": [(1, "weights", False, None)] for name in _WEIGHTED},
    **{f"cupyx.scipy.ndimage.{name}_filter": [(2, "footprint", False, None)] for name in _RANKING},
    **{f"cupyx.scipy.ndimage.binary_{name}": [(1, "structure", False, None)] for name in _SHAPED},
    **{
        f"cupyx.scipy.ndimage.grey_{name}": [(2, "footprint", False, None), (3, "structure", False, None)]
        for name in _SHAPED
    },
}


def bring(name: str, args: tuple[Any, ...], words: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of one of these functions, those on the device that it brings there."""
    for place, word, numbers, like in BROUGHT[name] if words.get("period") is None else ():
        value = args[place] if len(args) > place else words.get(word)
        kind = args[like].dtype if like is not None and len(args) > like else None
        if isinstance(value, (list, tuple, np.ndarray)):
            brought = calls.wrapped(calls.copied_in(np.asarray(value, kind)))
            if len(args) > place:
                args = (*args[:place], brought, *args[place + 1 :])
            else:
                words = {**words, word: brought}
        elif numbers and isinstance(value, (int, float, complex, np.generic)):
            calls.copy_in("cupy.array", functools.partial(np.array, value, kind))
    return args, words
