"""A GPU that is really there: the script's tensors are on it, and the times of its ops are those of handing them
over."""

from __future__ import annotations

from .. import _native
from ..events import recorder
from . import patch
from .describe import contexts, operands, storages
from .session import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Event = tuple[str, list[Any], list[Any], list[tuple[str, str]]]


#: Ops that may copy between host and GPU.
_COPIES = ("aten._to_copy", "aten.copy_")
#: The op by which a tensor comes that was filled from numbers of Python's (`torch.tensor([1, 2], device="cuda")`). They
#: are copied where no mode sees it, and as part of the step.
FILLED = "aten.lift_fresh"
#: No GPU has so much memory: only what is there is counted.
_ENDLESS = 1 << 62


def begin(torch: Any, place: Any) -> None:
    """The first tensor is on a GPU: from now on copies and waits are those that the script makes."""
    from json import dumps

    library: Any = getattr(torch, place.type, None)
    name = library.get_device_name(place) if hasattr(library, "get_device_name") else place.type
    _native.set_program(f'{{"gpu": {dumps(name)}}}')
    _native.pretend(_ENDLESS)
    parts = (getattr(library, "Stream", None), getattr(library, "Event", None))
    for holder in (library, *parts, getattr(torch, "accelerator", None)):
        wait = getattr(holder, "synchronize", None)
        if wait is not None:
            patch.watch(holder, "synchronize", wait, _enter, _waited)
    if parts[1] is not None and hasattr(parts[1], "record"):
        patch.watch(parts[1], "record", parts[1].record, _enter, _recorded)


def crosses(op: str, given: dict[str, Any], result: Any) -> Event | None:
    """What is told of an op that copies between host and GPU; None for others."""
    if op == FILLED:
        return _copy(given["self"], result, False, False) if storages.on_gpu(result) else None
    if op not in _COPIES:
        return None
    source, made = (given["self"], result) if op == _COPIES[0] else (given["src"], given["self"])
    if source.device.type == made.device.type:
        return None
    return _copy(source, made, _is_pinned(source, made), bool(given.get("non_blocking")))


def _is_pinned(source: Any, made: Any) -> bool:
    """Whether the GPU reaches the host's side of a copy by itself."""
    return bool((made if storages.on_gpu(made) is None else source).is_pinned())


def _copy(source: Any, made: Any, pinned: bool, asynchronous: bool) -> Event:
    keywords = [("pinned", str(pinned)), ("asynchronous", str(asynchronous))]
    if storages.on_gpu(made) is None:
        array = across(operands.describe(source), made, made, asynchronous)
        return recorder.TO_HOST, [array], [], keywords
    array = across(operands.describe(made, True), source, made, asynchronous)
    return recorder.TO_DEVICE, [], [array], keywords


def across(there: Any, here: Any, made: Any, asynchronous: bool) -> Any:
    """What a copy sends across the link: as many elements as are made, of the type of the GPU's array where the host
    waits, and so converts them, and of the host's tensor where the GPU does (`copy_kernel_cuda` of ATen's Copy.cu)."""
    _, _, layout, _, storage = there
    kind, size, *_ = operands.described(here) if asynchronous else there
    return kind, size, layout, operands.described(made)[3], storage


def moved(tensor: Any, result: Any, kwargs: dict[str, Any] | None) -> None:
    """A tensor was moved in a step that nobody watched; where somebody does, the op tells."""
    if result is not tensor and tensor.device.type != result.device.type:
        context = contexts.context(None, session.gpu)
        event = _copy(tensor, result, _is_pinned(tensor, result), bool((kwargs or {}).get("non_blocking")))
        recorder.op(*event, context, 0, 0, True)


def _enter(_: str) -> int:
    return _native.clock_ticks()


def _waited(began: int, *_: Any) -> None:
    if _native.recording():
        own = _native.clock_ticks() - began
        context = contexts.context(None, session.gpu)
        recorder.wait(context, own)


def _recorded(*_: Any) -> None:
    if _native.recording():
        _native.marker("cuda.Event.record")
