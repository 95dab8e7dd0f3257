"""`a[i, 1:n]`: the element or the view that it gives, and the place in memory where that is."""

from __future__ import annotations

import numpy

from .values import INT, Array, NotTold, Number, Several, Thing, added
from .walk import mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .values import Value
    from .walk import Walk


class Slice:
    """`start:stop:step`, of which what is left out is `None`."""

    __slots__ = ("start", "step", "stop")

    def __init__(self, start: Number | None, stop: Number | None, step: Number | None) -> None:
        self.start = start
        self.stop = stop
        self.step = step


Key = "Number | Slice | Array | Thing"


def keys_of(found: object) -> list[object]:
    """The items of what stands between the brackets."""
    return list(found.items) if isinstance(found, Several) else [found]


def load(walk: Walk, base: Value, key: object) -> Value:
    """`base[key]` as it is read."""
    if isinstance(base, Several):
        return _item(base, key)
    if not isinstance(base, Array):
        raise NotTold("it takes an item of something that is no array")
    if fancy := [item for item in keys_of(key) if isinstance(item, Array)]:
        return _chosen(walk, base, keys_of(key), fancy)
    part = view(base, key)
    if part.shape or len(part.axes) == 0 and base.shape and _is_view(base, key):
        return part
    walk.touches(part, tuple(axis if isinstance(axis, Number) else None for axis in part.axes), False)
    return walk.number(base.dtype)


def store(walk: Walk, base: Value, key: object, value: Value, adds: bool = False, reads: bool = False) -> None:
    """`base[key] = value`; `reads` what is there too, as `+=` does, which `adds`."""
    if isinstance(base, Several):
        raise NotTold("it sets an item of a list")
    if not isinstance(base, Array):
        raise NotTold("it sets an item of something that is no array")
    if fancy := [item for item in keys_of(key) if isinstance(item, Array)]:
        n = max(array.size for array in fancy)
        walk.array_op({"scatter": {"n": n, "target": base.size, "accumulate": adds}}, base.dtype, fancy, None)
        walk.whole(base, True)
        return
    part = view(base, key)
    index = tuple(axis if isinstance(axis, Number) else None for axis in part.axes)
    if not part.shape:
        if reads and not adds:
            walk.touches(part, index, False)
        walk.touches(part, index, True, adds)
        return
    if isinstance(value, Number):
        walk.array_op({"copy": {"n": part.size, "strided": True}}, part.dtype, [], part, n=part.size)
    elif isinstance(value, Array) and id(value.memory) not in walk.temporary:
        walk.elementwise([value], {}, base.dtype)
    if reads:
        walk.whole(part, False)
    walk.touches(part, index, True)


def _item(base: Several, key: object) -> Value:
    if isinstance(key, Number) and key.known:
        try:
            return base.items[key.whole]
        except IndexError:
            raise NotTold("it takes an item of a tuple that is not there") from None
    if isinstance(key, Slice):
        start, stop, step = (bound.whole if bound is not None else None for bound in (key.start, key.stop, key.step))
        return Several(base.items[start:stop:step])
    numbers = [item for item in base.items if isinstance(item, Number)]
    if len(numbers) == len(base.items) and numbers:
        return Number(numbers[0].dtype, None, None, True)
    arrays = [item for item in base.items if isinstance(item, Array)]
    if len(arrays) == len(base.items) and len({(array.shape, array.dtype) for array in arrays}) == 1:
        return arrays[0]
    raise NotTold("it takes an item of a tuple by a place that is not known")


def _chosen(walk: Walk, base: Array, keys: list[object], fancy: list[Array]) -> Array:
    """Elements chosen by an array: of places, or of truth values, of which half may be true."""
    lead = fancy[0]
    if lead.dtype.kind == "b":
        n = max(lead.size // 2, 1)
        shape = (n, *base.shape[len(lead.shape) :])
    else:
        shape = (*lead.shape, *base.shape[len(keys) :])
    made = walk.made(base.dtype, shape)
    walk.array_op({"gather": {"n": made.size, "source": base.size}}, base.dtype, [base, *fancy], made, n=made.size)
    return made


def _is_view(base: Array, key: object) -> bool:
    return len(keys_of(key)) < len(base.shape) and not any(isinstance(item, Thing) for item in keys_of(key))


def view(base: Array, key: object) -> Array:
    """The part of an array that a key of places and slices gives."""
    keys = keys_of(key)
    taken = sum(1 for item in keys if not (isinstance(item, Thing) and item.object in (None, Ellipsis)))
    if taken > len(base.shape):
        raise NotTold("it has more indices than an array has axes")
    full: list[object] = []
    for item in keys:
        if isinstance(item, Thing) and item.object is Ellipsis:
            full += [Slice(None, None, None)] * (len(base.shape) - taken)
        else:
            full.append(item)
    left = len(base.shape) - sum(1 for item in full if not (isinstance(item, Thing) and item.object is None))
    full += [Slice(None, None, None)] * left
    shape: list[int] = []
    places: list[object] = []
    axis = 0
    for item in full:
        if isinstance(item, Thing) and item.object is None:
            shape.append(1)
            continue
        length = base.shape[axis]
        if isinstance(item, Slice):
            start, count = _extent(item, length)
            places.append((len(shape), start))
            shape.append(count)
        elif isinstance(item, Number):
            value = item.value
            wraps = item.known and isinstance(value, int) and value < 0
            places.append(Number(INT, value + length) if wraps else item)  # type: ignore[operator]
        else:
            raise NotTold("it indexes an array by something that is no number")
        axis += 1
    return Array(base.dtype, tuple(shape), base.memory, _composed(base, places))


def _composed(base: Array, places: list[object]) -> tuple[Number | tuple[int, int | None], ...]:
    """Where the view's axes are in the memory, from where those of the array are that it is taken from."""
    axes: list[Number | tuple[int, int | None]] = []
    for item in base.axes:
        if isinstance(item, Number):
            axes.append(item)
            continue
        axis, offset = item
        place = places[axis] if axis < len(places) else (axis, None)
        if isinstance(place, tuple):
            start = place[1]
            axes.append((place[0], None if offset is None or start is None else offset + start))
        elif isinstance(place, Number):
            axes.append(_moved(place, offset))
    return tuple(axes)


def _moved(place: Number, offset: int | None) -> Number:
    if offset is None or place.value is None:
        return Number(INT, None, None, place.data)
    return Number(INT, place.value + offset, added(place, Number(INT, offset), 1), place.data)


def _extent(item: Slice, length: int) -> tuple[int | None, int]:
    """Where a slice of an axis begins, if that is known and it takes one after the other, and how many it takes."""
    bounds = (item.start, item.stop, item.step)
    if all(bound is None or bound.known for bound in bounds):
        values = [None if bound is None else bound.whole for bound in bounds]
        try:
            start, stop, step = slice(*values).indices(length)
        except (TypeError, ValueError):
            raise NotTold("a slice has a step of zero") from None
        return (start if step == 1 else None), len(range(start, stop, step))
    low = item.start if item.start is not None else Number(INT, 0)
    high = item.stop if item.stop is not None else Number(INT, length)
    if item.step is not None or low.value is None or high.value is None:
        raise NotTold("the length of a slice depends on data")
    count = mean(Number(INT, high.whole - low.whole, added(high, low, -1)))
    if count is None:
        raise NotTold("the length of a slice depends on data")
    if count <= 0 and high.known and high.whole <= 0:
        count += length
    return None, min(max(count, 0), length)


def reshaped(array: Array, shape: tuple[int, ...]) -> Array:
    """The same elements in another shape; where they are is not known any more, unless it is the shape it has."""
    if shape == array.shape:
        return array
    if numpy.prod(shape, dtype=object) != array.size:
        raise NotTold("it gives an array a shape of another size")
    return Array(array.dtype, shape, array.memory, ())
