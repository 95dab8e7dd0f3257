"""`cupyx.scipy.ndimage`: measurements of labelled parts, of which the host has to be told how many elements there
are."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import calls, shared
from ..core.calls import cupy as _cupy

#: Up to so many labels CuPy takes one after the other; where it wants places or medians, fewer.
_FEW, _FEWER = 30, 15


def _positions(a: Any) -> Any:
    return _cupy().arange(a.size).reshape(a.shape)


#: What is asked of a part: whether it wants the places of elements.
_ASKED = {"min": False, "argmin": True, "max": False, "argmax": True, "median": False}


def _of_one(asked: tuple[str, ...], values: Any, positions: Any) -> list[Any]:
    """Each answer for one part."""
    found = []
    for name in asked:
        if _ASKED[name]:
            found.append(positions[values == getattr(values, name[3:])()][0])
        else:
            found.append(_cupy().median(values) if name == "median" else getattr(values, name)())
    return found


def _of_each(asked: tuple[str, ...], parts: list[Any], places: list[Any]) -> list[Any]:
    """The answers for a few parts, one after the other."""
    cupy = _cupy()

    def one(name: str, values: Any, positions: Any) -> Any:
        if not values.size:
            return cupy.asarray([0], dtype=int if _ASKED[name] else values.dtype)
        found = getattr(cupy, name)(values, keepdims=True)
        return positions[found] if _ASKED[name] else found

    given = places or [None] * len(parts)
    return [cupy.concatenate([one(name, *part) for part in zip(parts, given)]) for name in asked]


def _select(asked: tuple[str, ...], input: Any, labels: Any, index: Any) -> list[Any]:
    """What is asked of all elements, of those with a label, or of each part."""
    cupy = _cupy()
    positions = _positions(input) if any(_ASKED[name] for name in asked) else None
    if labels is None:
        return _of_one(asked, input, positions)
    input, labels = cupy.broadcast_arrays(input, cupy.asarray(labels))
    if index is None or cupy.isscalar(index):
        mask = labels > 0 if index is None else labels == index
        return _of_one(asked, input[mask], None if positions is None else positions[mask])
    index = cupy.asarray(index)
    least, most = labels.min(), labels.max()
    whole = labels.dtype.kind == "i" or (labels.dtype.kind == "u" and labels.dtype.itemsize < 8)
    if not whole or least < 0 or most > labels.size:
        distinct, labels = cupy.unique(labels, return_inverse=True)
        chosen = cupy.searchsorted(distinct, index)
        chosen[chosen >= distinct.size] = 0
        there = distinct[chosen] == index
    else:
        chosen = index.astype(int)
        there = (chosen >= 0) & (chosen <= most)
    chosen[~there] = most + 1
    input, labels = input.ravel(), labels.ravel()
    positions = None if positions is None else positions.ravel()
    if len(chosen) <= (_FEW if positions is None and "median" not in asked else _FEWER):
        masks = [labels == label for label in chosen]
        parts = [input[mask] for mask in masks]
        return _of_each(asked, parts, [] if positions is None else [positions[mask] for mask in masks])
    return _in_order(asked, input, labels, positions, chosen, most)


def _in_order(asked: tuple[str, ...], input: Any, labels: Any, positions: Any, chosen: Any, most: Any) -> list[Any]:
    """The answers for many parts: of all elements in order, where each part begins and ends."""
    cupy = _cupy()
    order = cupy.lexsort(cupy.stack((input, labels)))
    input, labels = input[order], labels[order]
    positions = None if positions is None else positions[order]
    changes = cupy.searchsorted(labels, cupy.arange(1, int(most) + 2))
    begins, ends = changes[:-1], changes[1:] - 1

    def of_parts(at: Any, values: Any) -> Any:
        table = cupy.zeros(int(labels.max()) + 2, values.dtype)
        table[labels[at]] = values[at]
        return table[chosen]

    found = []
    for name in asked:
        if name != "median":
            found.append(of_parts(begins if name.endswith("min") else ends, positions if _ASKED[name] else input))
            continue
        places = cupy.arange(len(labels))
        low, high = of_parts(begins, places), of_parts(ends, places)
        half = (high - low) // 2
        low += half
        high -= half
        if input.dtype.kind in "iub":
            found.append((input[low].astype(float) + input[high].astype(float)) / 2.0)
        else:
            found.append((input[low] + input[high]) / 2.0)
    return found


def _single(name: str) -> Callable[..., Any]:
    def measured(input: Any, labels: Any = None, index: Any = None) -> Any:
        return _select((name,), input, labels, index)[0]

    return measured


def _on_host(places: Any, shape: tuple[int, ...]) -> Any:
    """Places in an array as the host has them: a tuple for one, a list of such for several."""
    host = int(places) if places.ndim == 0 else _cupy().asnumpy(places)
    return shared.quietly(_unravelled, host, shape)


def _unravelled(places: Any, shape: tuple[int, ...]) -> Any:
    found = np.unravel_index(places, shape)
    return tuple(found) if np.ndim(places) == 0 else [tuple(one) for one in np.stack(found, axis=-1)]


def _position(name: str) -> Callable[..., Any]:
    def place(input: Any, labels: Any = None, index: Any = None) -> Any:
        return _on_host(_select((name,), input, labels, index)[0], input.shape)

    return place


def extrema(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The least and greatest elements, and where they are."""
    asked = ("min", "argmin", "max", "argmax")
    least, lowest, most, highest = _select(asked, input, labels, index)
    return least, most, _on_host(lowest, input.shape), _on_host(highest, input.shape)


def labeled_comprehension(
    input: Any, labels: Any, index: Any, func: Callable[..., Any], out_dtype: Any, default: Any,
    pass_positions: bool = False,
) -> Any:  # fmt: skip
    """What a function of the program's makes of the elements of each part."""
    cupy = _cupy()
    alone = cupy.isscalar(index)
    input = cupy.asarray(input)
    given = [input, _positions(input)] if pass_positions else [input]
    if labels is None:
        if index is not None:
            raise ValueError("index without defined labels")
        return func(*(each.ravel() for each in given))
    try:
        given[0], labels = cupy.broadcast_arrays(input, labels)
    except ValueError:
        raise ValueError("input and labels must have the same shape (excepting dimensions with width 1)") from None
    if index is None:
        mask = labels > 0
        return func(*(each[mask] for each in given))
    index = cupy.atleast_1d(index)
    if cupy.any(index.astype(labels.dtype).astype(index.dtype) != index):
        kinds = f"<{index.dtype}> to <{labels.dtype}>"
        raise ValueError(f"Cannot convert index values from {kinds} (labels.dtype) without loss of precision")
    index = index.astype(labels.dtype)
    mask = (labels >= index.min()) & (labels <= index.max())
    labels, *given = (each[mask] for each in (labels, *given))
    order = labels.argsort(kind="stable")
    labels, *given = (each[order] for each in (labels, *given))
    order = index.argsort()
    wanted = index[order]
    made: Any
    if out_dtype is object:
        made = dict.fromkeys(range(index.size), default)
    else:
        made = cupy.empty(index.shape, out_dtype)
        made[:] = np.nan if default is None and made.dtype.kind in "fc" else default
    begins, ends = (cupy.searchsorted(labels, wanted, side=side) for side in ("left", "right"))
    for place, begin, end in zip(range(wanted.size), begins, ends):
        if begin == end:
            continue
        made[place] = func(*(each[begin:end] for each in given))
    host = cupy.asnumpy(order)
    if out_dtype is object:
        output: Any = [made[place] for place in shared.quietly(host.argsort).tolist()]
    else:
        output = cupy.zeros(index.shape, out_dtype)
        output[host] = made
    return output[0] if alone else output


def histogram(input: Any, min: Any, max: Any, bins: int, labels: Any = None, index: Any = None) -> Any:
    """How many elements of each part lie in each bin."""
    edges = _cupy().linspace(min, max, bins + 1)

    def counted(values: Any) -> Any:
        return _cupy().histogram(values, edges)[0]

    return labeled_comprehension(input, labels, index, counted, object, None)


def find_objects(input: Any, max_label: int = 0) -> Any:
    """The box of each part, as slices of the host."""
    cupy = _cupy()
    if input.dtype.kind not in "bui":
        raise TypeError(f"Input dtype {input.dtype.name} cannot be interpreted as an integer")
    if max_label < 1:
        max_label = int(input.max())
    boxes = cupy.zeros((max_label, 2 * input.ndim), np.uint32 if input.size < 2**32 else np.uint64)
    boxes[:, ::2] = cupy.iinfo(boxes.dtype).max
    image = input if input.flags.c_contiguous else cupy.ascontiguousarray(input)
    found: list[Any] = []

    def find(plain: Any, *_: Any) -> Any:
        found.append(importlib.import_module("scipy.ndimage").find_objects(plain.astype(np.intp), max_label))
        return ()

    told = {"n": image.size, "functions": f"two*{2 * image.ndim}"}
    calls.run("cupy.ElementwiseKernel", lambda *plain: shared.quietly(find, *plain), (image._a, boxes._a), {}, told)
    cupy.asnumpy(boxes)
    return found[0]


def value_indices(arr: Any, *, ignore_value: Any = None, adaptive_index_dtype: bool = False) -> Any:
    """Where each value is, by value."""
    cupy = _cupy()
    if arr.dtype.kind not in "iu":
        raise ValueError("Parameter 'arr' must be an integer array")
    flat = arr.reshape(-1)
    counts = cupy.bincount(flat)
    order = cupy.argsort(flat, axis=None, kind="stable")  # as CuPy sorts whatever is asked
    if adaptive_index_dtype:
        order = order.astype(np.min_scalar_type(-(arr.size + 1)), copy=False)
    places = cupy.unravel_index(order, arr.shape)
    if adaptive_index_dtype:
        kind = np.min_scalar_type(-(max(arr.shape) + 1))
        places = tuple(place.astype(kind, copy=False) for place in places)
    found, at = {}, 0
    for value, count in enumerate(cupy.asnumpy(counts).tolist()):
        if count and value != ignore_value:
            found[value] = tuple(place[at : at + count] for place in places)
        at += count
    return found


#: By name.
CONTENTS: dict[str, Any] = {
    "minimum": _single("min"), "maximum": _single("max"), "median": _single("median"),
    "minimum_position": _position("argmin"), "maximum_position": _position("argmax"),
    **{
        function.__name__: function
        for function in (extrema, labeled_comprehension, histogram, find_objects, value_indices)
    },
}  # fmt: skip
