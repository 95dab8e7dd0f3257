"""What a script is told that asks for values which are not known: as arrays, lists and numbers."""

from __future__ import annotations

import os

from ...events import recorder
from .. import frames
from ..session import session
from . import known_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: How often a place has asked for a value that is not known, and how often it is answered 1 or true: then 0 or false.
_asked: dict[tuple[Any, int], int] = {}
PATIENCE = 1000
#: How often it is told that a number is not the one that it asks for: a text ends where it has its length.
PATIENCE_AT_MOST = 1 << 14
#: What lies between the code that asks and us.
BETWEEN = tuple(os.path.join(*part) for part in (("breakeven", "torch", ""), ("torch", "_"), ("torch", "utils", "")))
#: Parts of PyTorch that ask whether something is out of the ordinary: numbers outside, gradients that overflowed.
_EXCEPTIONS = tuple(os.path.join("torch", *part) for part in (("nn", "init.py"), ("amp", "grad_scaler.py")))
#: The part that asks whether what it is given is valid.
CHECKS = os.path.join("torch", "distributions", "")


def array(tensor: Any) -> Any:
    """Instead of its values as an array."""
    value = valued(tensor)
    if value is not None:
        return known_values.call(session.torch._C.TensorBase.numpy, value).copy()
    unknown("the values of an array")
    import numpy

    return numpy.zeros(tuple(tensor.shape), dtype=str(tensor.dtype).rpartition(".")[2])


def listed(tensor: Any) -> Any:
    """Instead of its values as lists."""
    value = valued(tensor)
    if value is not None:
        return known_values.call(session.torch._C.TensorBase.tolist, value)
    unknown("the values of a list")
    return _zeros(tuple(tensor.shape), zero_of(tensor))


def valued(tensor: Any) -> Any:
    """A tensor with its values, however many, or nothing."""
    return known_values.known(tensor) if hasattr(tensor, "fake_mode") else tensor


def _zeros(shape: tuple[int, ...], zero: Any) -> Any:
    return zero if not shape else [_zeros(shape[1:], zero) for _ in range(int(shape[0]))]


def zero_of(tensor: Any) -> Any:
    """Nothing, as Python has it: whole numbers may be places to look at."""
    return False if tensor.dtype == session.torch.bool else 0.0 if tensor.dtype.is_floating_point else 0


def times_asked(frame: Any) -> int:
    """How often this place has asked by now: `while error.item() > tolerance` waits for another answer. 0 for what
    is out of the ordinary: initialisers draw again as long as any number lies outside, a scaler leaves out the
    optimizer's step."""
    if frame.f_code.co_filename.endswith(_EXCEPTIONS):
        return 0
    key = (frame.f_code, frame.f_lineno)
    _asked[key] = _asked.get(key, 0) + 1
    return _asked[key]


def unknown(what: str, answer: str = "1, true or all") -> None:
    recorder.unseen(
        "unknown-value",
        f"{what} is not known without values ({frames.script_line()}): the script went on with {answer}",
    )
