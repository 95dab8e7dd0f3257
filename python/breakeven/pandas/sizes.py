"""Rows, columns and bytes of pandas' objects, without a look at more than a few of their values."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    #: (rows, columns, what the columns are): equal for objects of equal size.
    Size = tuple[int, int, tuple[Any, ...]]

#: Frames of fewer bytes are not followed: copying them takes as long as any call.
FOLLOWED = 1 << 16
#: Arrays of one object that are followed.
_ARRAYS = 8
#: Strings that are looked at for their mean length.
_SAMPLED = 16
#: Bytes of an object that is no string: a guess.
_OBJECT = 32

_NOTHING: Size = (0, 0, ())
_NAMED = set("f64 f32 f16 i64 i32 i16 i8 u64 u32 u16 u8 bool c64 c128".split())
_KINDS = {"f": "f", "i": "i", "u": "u", "b": "bool", "M": "i", "m": "i", "c": "c"}


def size(of: Any) -> Size:
    """Of a frame, series, index, or something made of one; `_NOTHING` of anything else."""
    manager = getattr(of, "_mgr", None)
    if manager is not None:
        blocks = manager.blocks
        rows = len(manager.axes[-1])
        if len(blocks) == 1:
            block = blocks[0]
            columns = block.shape[0] if block.ndim == 2 else 1
            return rows, columns, (block.dtype, columns)
        kinds: list[Any] = []
        columns = 0
        for block in blocks:
            here = block.shape[0] if block.ndim == 2 else 1
            columns += here
            kinds += (block.dtype, here)
        return rows, columns, tuple(kinds)
    data = getattr(of, "_data", None)
    if data is not None and hasattr(of, "dtype"):
        return len(of), 1, (of.dtype, 1)
    if hasattr(of, "_codes"):
        return len(of), len(of._codes), ("codes", len(of._codes))
    shape = getattr(of, "shape", None)
    if type(shape) is tuple and shape and hasattr(of, "dtype"):
        columns = shape[1] if len(shape) > 1 else 1
        return int(shape[0]), int(columns), (of.dtype, columns)
    if type(of) in (list, tuple, dict):
        return len(of), 1, (object, 1)
    return _NOTHING


def width(of: Any, told: Size) -> float:
    """Bytes of one row, letters of strings by a sample."""
    kinds = told[2]
    bytes = 0.0
    for place in range(0, len(kinds), 2):
        dtype, columns = kinds[place], kinds[place + 1]
        item = getattr(dtype, "itemsize", None) or 8
        if getattr(dtype, "kind", "") == "O" and type(dtype).__name__ != "CategoricalDtype":
            item = _letters(of, dtype)
        elif type(dtype).__name__ == "CategoricalDtype":
            item = 4
        bytes += item * columns
    return bytes


def element(told: Size) -> str:
    """The element type of most of the columns, as the workload format names it."""
    kinds = told[2]
    counts: dict[str, int] = {}
    for place in range(0, len(kinds), 2):
        dtype = kinds[place]
        kind, item = _KINDS.get(getattr(dtype, "kind", "O")), getattr(dtype, "itemsize", 8)
        name = "u8" if kind is None else "bool" if kind == "bool" else f"{kind}{8 * item}"
        counts[name] = counts.get(name, 0) + kinds[place + 1]
    if len(counts) > 1:
        counts.pop("bool", None)
    most = max(counts, key=lambda name: counts[name], default="f64")
    return most if most in _NAMED else "f64"


def _letters(of: Any, dtype: Any) -> float:
    """Mean bytes of the values of the columns of this type."""
    manager = getattr(of, "_mgr", None)
    blocks = [block.values for block in manager.blocks if block.dtype == dtype] if manager is not None else [of]
    lengths: list[int] = []
    for values in blocks[:4]:
        arrow = getattr(values, "_pa_array", None)
        if arrow is not None:
            return float(arrow.nbytes) / max(len(arrow), 1)
        flat = values.ravel() if hasattr(values, "ravel") else values
        step = max(len(flat) // _SAMPLED, 1)
        for place in range(0, len(flat), step):
            value = flat[place]
            lengths.append(len(value) if isinstance(value, str | bytes) else _OBJECT)
    return sum(lengths) / len(lengths) if lengths else float(_OBJECT)


def arrays(of: Any) -> tuple[Any, ...]:
    """The arrays that hold an object's values, the first ones of many."""
    manager = getattr(of, "_mgr", None)
    if manager is not None:
        found = [_array(block.values) for block in manager.blocks[:_ARRAYS]]
    else:
        found = [_array(getattr(of, "_data", of))]
    return tuple(array for array in found if array is not None)


def _array(values: Any) -> Any:
    numpy = sys.modules["numpy"]
    if type(values) is numpy.ndarray:
        return values
    arrow = getattr(values, "_pa_array", None)
    if arrow is not None and arrow.num_chunks:
        last = arrow.chunk(0).buffers()[-1]
        return numpy.frombuffer(last, numpy.uint8) if last is not None and last.size else None
    for name in ("_ndarray", "_codes", "_data"):
        inner = getattr(values, name, None)
        if type(inner) is numpy.ndarray:
            return inner
    return None
