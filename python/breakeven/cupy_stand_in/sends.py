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


def _splines(image: Any, args: tuple[Any, ...], words: dict[str, Any]) -> list[int]:
    """How far to move or zoom; before it, where splines of order 2 or more are, the shape, for each axis."""
    order = int(words.get("order", args[3] if len(args) > 3 else 3))
    prepared = order > 1 and words.get("prefilter", args[6] if len(args) > 6 else True)
    kind = np.float32 if image.dtype.kind in "iu" else np.promote_types(image.real.dtype, np.float32)
    shapes = [4 * (2 + image.ndim) for length in image.shape if length > 1] if prepared else []
    return [*shapes, image.ndim * np.dtype(kind).itemsize]


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
}
NAMES = frozenset(f"cupyx.scipy.ndimage.{name}" for name in _FILTERS)


def sent(name: str, args: tuple[Any, ...], words: dict[str, Any]) -> list[int]:
    """Bytes of each copy that a call with these plain arguments makes."""
    return _FILTERS[name.rpartition(".")[2]](args[0], args, words) if args else []


#: Functions that bring arguments to the device: place and name of each, whether they do so with a single number, and the
#: place of what has the type that it gets there, where that is not its own.
BROUGHT: dict[str, list[tuple[int, str, bool, int | None]]] = {
    "cupy.percentile": [(1, "q", True, None)],
    "cupy.quantile": [(1, "q", True, None)],
    "cupy.append": [(1, "values", True, None)],
    "cupy.delete": [(1, "indices", False, None)],
    "cupy.take": [(1, "indices", False, None)],
    "cupy.histogram": [(1, "bins", False, None)],
    "cupy.put": [(1, "ind", True, None), (2, "v", True, 0)],
    "cupy.interp": [(3, "left", True, 2), (4, "right", True, 2)],
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
