"""`cupy.testing`: assertions, and arrays to try things on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .core import calls, shared
from .core.calls import cupy as _cupy

_ASSERTIONS = (
    "assert_allclose assert_array_almost_equal assert_array_almost_equal_nulp assert_array_equal assert_array_less "
    "assert_array_max_ulp"
)


def _assertion(name: str) -> Callable[..., None]:
    """An assertion: both sides are read on the host."""
    check = getattr(np.testing, name)

    def host(value: Any) -> Any:
        return value.get() if calls.is_device(value) else value

    def assertion(*args: Any, **kwargs: Any) -> None:
        shared.quietly(check, *map(host, args), **kwargs)

    assertion.__name__ = name
    return assertion


def _filled(shape: Any, xp: Any, dtype: Any, numbers: Any, order: str) -> Any:
    kind = np.dtype(dtype)
    if kind.kind == "b":
        numbers = numbers % 2 == 0
    elif kind.kind == "c":
        numbers = numbers + numbers * 1j
    return (xp or _cupy()).array(numbers.astype(kind).reshape(shape), order=order)


def shaped_arange(shape: Any, xp: Any = None, dtype: Any = np.float32, order: str = "C") -> Any:
    """1, 2, 3 and so on."""
    return _filled(shape, xp, dtype, np.arange(1, math.prod(shape) + 1), order)


def shaped_reverse_arange(shape: Any, xp: Any = None, dtype: Any = np.float32) -> Any:
    """The same, downwards to 1."""
    return _filled(shape, xp, dtype, np.arange(math.prod(shape), 0, -1), "C")


def shaped_random(
    shape: Any, xp: Any = None, dtype: Any = np.float32, scale: float = 10, seed: int = 0, order: str = "C"
) -> Any:
    """Numbers that NumPy draws on the host, the same each time."""
    drawn, kind = np.random.RandomState(seed), np.dtype(dtype)
    if kind.kind == "b":
        numbers: Any = drawn.randint(2, size=shape)
    elif kind.kind == "c":
        numbers = (drawn.rand(*shape) + 1j * drawn.rand(*shape)) * scale
    else:
        numbers = drawn.rand(*shape) * scale
    return (xp or _cupy()).asarray(numbers, dtype=kind, order=order)


CONTENTS: dict[str, Any] = {
    **{name: _assertion(name) for name in _ASSERTIONS.split()},
    **{function.__name__: function for function in (shaped_arange, shaped_reverse_arange, shaped_random)},
}
