"""A tensor as the native table takes it: element type, bytes of one, layout, dims, storage."""

from __future__ import annotations

from ..session import REFUSED, session
from . import sparse_parts, storages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any


#: NumPy's number of an element type, its bytes.
types: dict[Any, tuple[int, int]] = {}
#: Marks memory that an op uses besides the arrays that say what it computes.
_MEMORY_ONLY = 255


def prepare(torch: Any) -> None:
    """Learn PyTorch's element types."""
    session.torch, session.plain = torch, (torch.Tensor, torch.nn.Parameter)
    names = {
        "bool": (0, 1), "int8": (1, 1), "uint8": (2, 1), "int16": (3, 2), "uint16": (4, 2), "int32": (5, 4),
        "uint32": (6, 4), "int64": (7, 8), "uint64": (8, 8), "float16": (23, 2), "float32": (11, 4),
        "float64": (12, 8), "complex64": (14, 8), "complex128": (15, 16), "bfloat16": (200, 2),
        "float8_e4m3fn": (201, 1), "float8_e5m2": (201, 1), "float8_e4m3fnuz": (201, 1), "float8_e5m2fnuz": (201, 1),
        "qint8": (1, 1), "quint8": (2, 1), "qint32": (5, 4), "quint4x2": (2, 1),
    }  # fmt: skip
    for name, number in names.items():
        if hasattr(torch, name):
            types[getattr(torch, name)] = number


def describe(tensor: Any, made: bool = False) -> tuple[int, int, int, tuple[int, ...], int]:
    """Element type, its bytes, layout, dims, storage."""
    known = storages.stored(tensor, made)
    return (*described(tensor), known.id if known is not None else 0)


def described(tensor: Any) -> tuple[int, int, int, tuple[int, ...]]:
    """The same without its storage."""
    code, size = types.get(tensor.dtype, (17, 8))
    try:
        shape = tuple(map(int, tensor.shape))
    except REFUSED:  # nested: its rows differ
        shape = ()
    return code, size, _layout(tensor, shape), shape


def _layout(tensor: Any, shape: tuple[int, ...]) -> int:
    try:
        if tensor.is_contiguous():
            return 0
        if len(shape) == 4 and tensor.is_contiguous(memory_format=session.torch.channels_last):
            return 3
        if len(shape) == 2 and tensor.stride() == (1, shape[0]):
            return 1
        strides = tensor.stride()
        together = 4 if len(shape) > 1 and strides[-1] == 1 else 2
        if 0 not in strides:
            return together
        # Its first axes repeat the same memory: a layer's weights, expanded to each of a batch.
        repeated = next((axis for axis, stride in enumerate(strides) if stride), len(shape))
        return together + 8 * min(repeated, 30)
    except REFUSED:  # a layout that has no strides
        return 0


def describe_all(values: Any, made: bool, out: list[Any], together: bool = False) -> None:
    """Tensors among the values of one argument. A list of several stands as one array of all their elements, but for
    the two or three results of an op, unless these are `together`: an op's that does the same to each of a list."""
    if isinstance(values, session.torch.Tensor):
        out.extend(describe(part, made) for part in sparse_parts.parts(values))
    elif isinstance(values, (list, tuple)):
        tensors = [value for value in values if isinstance(value, session.torch.Tensor)]
        if len(tensors) == 1 or (tensors and made and not together and len(tensors) < 4):
            out.extend(describe(tensor, made) for tensor in tensors)
        elif tensors:
            out.extend(_as_list([describe(tensor, made) for tensor in tensors]))


def as_lists(calls: Iterable[list[Any]]) -> list[Any]:
    """The arrays of several calls of one op as those of one with a list for each of its arguments."""
    told: list[Any] = []
    for column in zip(*calls):
        told.extend(_as_list(column))
    return told


def _as_list(parts: Sequence[Any]) -> list[Any]:
    if len(parts) == 1:
        return [parts[0]]
    total = sum(count_of(part[3]) for part in parts)
    return [(parts[0][0], parts[0][1], 0, (total,), 0), *(memory(part[4]) for part in parts if part[4])]


def memory(storage: int) -> Any:
    """A storage that an op uses besides the arrays that say what it computes."""
    return 0, 0, _MEMORY_ONLY, (), storage


def count_of(shape: tuple[int, ...]) -> int:
    count = 1
    for dim in shape:
        count *= dim
    return count


def size(array: Any) -> int:
    """Bytes of an array described."""
    return int(array[1]) * count_of(array[3])


def one_of(values: Any) -> Any:
    """A single value of these."""
    return (*described(values)[:2], 0, (), 0)
