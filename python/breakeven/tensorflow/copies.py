"""Copies that a script makes between its arrays and TensorFlow's tensors, where the host waits for the latter."""

from __future__ import annotations

import json

from .. import _native
from ..events import recorder
from . import calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Methods of tensors by which the host gets their values.
READS = ("numpy", "__array__", "__float__", "__int__", "__bool__", "__index__", "__format__")
#: Whole numbers of so few bytes are shapes and counters, which stay on the host.
_HOSTS = 128


def entered(name: str) -> int:
    """A copy begins; 0 within a compiled function."""
    return 0 if calls.running.inside else _native.enter(name)


def read(token: int | None, inputs: tuple[Any, ...], _result: Any, _: Any = None) -> None:
    """The host has the values of the tensor that it asked for."""
    if not token:
        return
    if not inputs:
        recorder.failed(token)
        return
    _told(token, inputs[0], {"host_read": {"bytes": _bytes(inputs[0])}})


def made(token: int | None, inputs: tuple[Any, ...], result: Any, _: Any = None) -> None:
    """A tensor has been made of the script's values."""
    if not token:
        return
    is_tensor = bool(inputs) and hasattr(result, "_shape_tuple")
    if not is_tensor or (result.dtype.is_integer and _bytes(result) <= _HOSTS):
        recorder.failed(token)
        return
    _told(token, result, {"transfer": {"direction": "h2d", "bytes": _bytes(result)}})


def _told(token: int, tensor: Any, op: dict[str, Any]) -> None:
    _native.leave(token, (), None, {"op": json.dumps({"op": op, "dtype": "u8"})}, calls.device())


def _bytes(tensor: Any) -> int:
    size = 1
    for dim in tensor._shape_tuple():
        size *= int(dim)
    return size * max(1, int(getattr(tensor.dtype, "size", 1) or 1))
