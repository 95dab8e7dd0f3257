"""What a script puts on its device where it asks for a GPU and gets none: `.to(device)` gives the tensor back, so that
which tensors are there is known of the tensors themselves. Of the rows of one that stays, each is put there apart."""

from __future__ import annotations

import dis
import sys

from . import _torch_aside, _torch_sparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Line = tuple[Any, int]

#: Whether a line names the CPU in words, and no GPU.
_says_cpu: dict[Line, bool] = {}


def line() -> tuple[Line, bool]:
    """The script's line that calls what our caller stands in for, and whether that line does so, and no library's."""
    frame: Any = sys._getframe(2)
    direct = True
    while frame.f_back is not None:
        if not frame.f_globals.get("__name__", "").startswith("breakeven."):
            if "-packages" not in frame.f_code.co_filename:
                break
            direct = False
        frame = frame.f_back
    return (frame.f_code, frame.f_lineno), direct


def put(tensor: Any, known: Any, by: Line, part: Any = None) -> None:
    """A tensor, whose storage is `known`, has been put on the script's device by this line; of a sparse one this part."""
    span = _span(tensor if part is None else part)
    known.put_by.add(by)
    if any(ref() is tensor and span == (first, last) for ref, first, last in known.put):
        return
    known.put[:] = [part for part in known.put if (other := part[0]()) is not None and other is not tensor]
    known.put.append((_torch_aside.put(tensor, known, span, by), *span))


def is_there(tensor: Any, known: Any) -> bool:
    """Whether a tensor was computed on the device, or is one that was put there or a part of one."""
    if known.placed or not known.put:
        return known.placed  # type: ignore[no-any-return]
    first, last = _span(tensor)
    return any(ref() is not None and begin <= first and last <= end for ref, begin, end in known.put)


def _span(tensor: Any) -> tuple[int, int]:
    """The bytes of its storage that a tensor lies in: first, last. Of a sparse one: its values."""
    tensor = _torch_sparse.parts(tensor)[-1]
    first, size = tensor.storage_offset(), tensor.element_size()
    if tensor.is_contiguous():
        extent = tensor.numel()
    else:
        extent = 1 + sum((length - 1) * stride for length, stride in zip(tensor.shape, tensor.stride()))
    return first * size, (first + extent) * size - 1


def means_host(device: Any, at: Line) -> bool:
    """Whether what a line gives to `.to` is the host, and not the device that a script has for want of a GPU: then the
    line says so in a word or a name."""
    if str(device) != "cpu":
        return False
    if at not in _says_cpu:
        _says_cpu[at] = _says(*at)
    return _says_cpu[at]


def instructions(code: Any, number: int) -> Iterator[dis.Instruction]:
    """What a line does."""
    of_line = [range(first, last) for first, last, line in code.co_lines() if line == number]
    return (step for step in dis.get_instructions(code) if any(step.offset in part for part in of_line))


def _says(code: Any, number: int) -> bool:
    words, names = set(), set()
    for step in instructions(code, number):
        if step.opname.startswith("LOAD_"):
            if step.opname.startswith("LOAD_CONST"):
                words.add(str(step.argval)[:4])
            elif not step.opname.startswith(("LOAD_ATTR", "LOAD_METHOD")):
                names.add(str(step.argval).lower())
    return "cuda" not in words and ("cpu" in words or any("cpu" in name for name in names))
