"""Where tensors are in a script that asks for a device and gets no GPU, by one rule.

What `.to(device)`, `.cuda()` or `device=device` is given is copied to the device each time that its line does so,
unless it was computed there or another line has put it there before. What is computed of what is there is there, and
all else is the host's. `.cpu()` copies back each time; the copy takes the place of what nothing else holds. A word
or a name that says "cpu" means the host. `--pretend-gpu NAME` imitates the device instead and needs no such rule.
"""

from __future__ import annotations

import functools
import sys
import weakref

from ... import _native
from ...events import recorder
from .. import frames, real_gpu
from ..describe import contexts, operands, sparse_parts, storages
from ..session import GRADIENT, INPUT, PARAMETER, STATE, no_gpu, session
from . import call_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Line = tuple[Any, int]


COPY, ARRAY = "torch.Tensor.cpu", "torch.Tensor.numpy"
#: Ops that may be given what is on both sides.
_ACROSS = frozenset(
    f"aten.{name}"
    for name in (
        "copy_ _to_copy index index_put_ index_put _index_put_impl_ index_fill_ set_ "
        "_pack_padded_sequence _pack_padded_sequence_backward _ctc_loss _ctc_loss_backward"
    ).split()
)
#: Ops of the device's that copy indices from the host each time they are given them, and where these are.
_INDEXED = {
    **dict.fromkeys((f"aten.{name}" for name in "index index_put_ index_put _index_put_impl_".split()), "indices"),
    "aten.index_fill_": "index",
}
#: Ops that make one tensor of many.
_JOINS = ("aten.cat", "aten.stack")
#: What gives two arrays, and the second on the host: how many sequences of a batch go on at each step.
PACKS = "aten._pack_padded_sequence"
#: By which C++ makes a tensor of a number that it is given beside tensors (`torch.where(mask, x, 0.5)`).
_NUMBER = "aten.scalar_tensor"
_NOTE = "copies to the device are counted by a simple rule here: `--pretend-gpu NAME` records them exactly"
#: Copies that a variable holds, by the instruction that made them.
_copies: dict[Any, int] = {}
#: Instructions that read values, and whether last of what the host had.
_of_host: dict[Any, bool] = {}


def install(torch: Any) -> None:
    """Apply the rule from now on."""
    no_gpu.torch, no_gpu.tells = torch, True


# An op is recorded.


def begins(op: Any, given: dict[str, Any]) -> bool:
    """Whether an op that has run is the host's; what it makes is where it ran."""
    no_gpu.filling, no_gpu.sent = op.fills, False
    tensors = [] if op.fills else list(storages.flat(list(given.values())))
    if session.phase == "data":
        no_gpu.on_host = not (tensors and no_gpu.aware and _ran_on_host(op.name, tensors) is False)
    elif tensors:
        no_gpu.on_host = _ran_on_host(op.name, tensors)
        known = storages.known_storage(tensors[0]) if op.name == "aten._to_copy" else None
        no_gpu.sent = known is not None and (known.id, frames.place()) == no_gpu.shared
    elif op.name == _NUMBER:
        no_gpu.on_host = None
    else:
        there = _names_device(frames.caller())
        if there:
            _learn()
            no_gpu.shares = op.fills and not given["self"].untyped_storage().resizable()
            no_gpu.sent = op.name == real_gpu.FILLED and not no_gpu.shares
        no_gpu.on_host = None if there is None else not (no_gpu.sent or (there and not op.fills))
    return bool(no_gpu.on_host)


def _ran_on_host(name: str, tensors: list[Any]) -> bool | None:
    """Whether an op of these tensors is the host's. Where one was computed on the device all are there, but for
    single values; what was only put there is on both sides, and the op where the others are."""
    sides = [(tensor, known) for tensor in tensors if (known := storages.known_storage(tensor)) is not None]
    if name in _JOINS and len(sides) > 1 and all(known.back is not None for _, known in sides):
        return True  # what a loop has copied to the host, and kept there
    there = [is_there(tensor, known) for tensor, known in sides]
    if name not in _ACROSS and not any(here and known.placed for here, (_, known) in zip(there, sides)):
        if any(
            not here and tensor.dim() and (known.aside or is_hosts(known))
            for here, (tensor, known) in zip(there, sides)
        ):
            return True if len(sides) == len(tensors) else None
    if any(there):
        for here, (tensor, known) in zip(there, sides) if name not in _ACROSS else ():
            if not here and tensor.dim():
                _leaves_host(known)
                if known.aside and not known.put:
                    was_made_there(known)
            elif not here and known.aside:
                _native.storage_put(known.id, 0)  # a GPU is handed it with the kernel
        return False
    hosts = any(known.aside or is_hosts(known) for _, known in sides)
    return True if hosts and len(sides) == len(tensors) else None


def ends(result: Any) -> None:
    """The op has been described, which gave this."""
    if no_gpu.shares:
        known = storages.known_storage(result)
        no_gpu.shared = (known.id, frames.place()) if known is not None else None
    no_gpu.on_host, no_gpu.filling, no_gpu.shares = None, False, False


def crosses(op: str, given: dict[str, Any]) -> real_gpu.Event | None:
    """What is recorded of an op that copies between host and device; None for others."""
    if op != "aten.copy_":
        return None
    source, target = where(given["src"]), where(given["self"])
    if source is target or None in (source, target):
        return None
    if target:
        return recorder.TO_DEVICE, [], [operands.describe(given["self"])], []
    return COPY, [operands.describe(given["src"])], [], []


def indices(op: str, given: dict[str, Any]) -> list[Any]:
    """Indices that an op on the device is given from the host: they are copied for it alone. A mask is looked up
    there."""
    if not no_gpu.aware or no_gpu.on_host is not False or op not in _INDEXED:
        return []
    masks = no_gpu.torch.bool, no_gpu.torch.uint8
    tensors = storages.flat(given.get(_INDEXED[op], ()))
    return [one for one in tensors if one.dim() and one.dtype not in masks and where(one) is False]


def sends(given: list[Any], inputs: list[Any]) -> list[Any]:
    """Record copies of indices for the op that is described by these inputs; its inputs without what is the host's."""
    for index in given:
        contexts.crossed(recorder.TO_DEVICE, [], [(*operands.described(index), 0)], False)
    copied = {known.id for index in given if (known := storages.known_storage(index)) is not None}
    kept = (array for array in inputs if array[4] not in copied or array[2] != operands.memory(0)[2])
    return [(*array[:4], 0) if array[4] in copied else array for array in kept]


def send(tensor: Any) -> None:
    """The host has filled a tensor that is to be on the device."""
    known = storages.known_storage(tensor)
    if known is not None:
        was_made_there(known)
        if tensor.numel():
            array = (*operands.described(tensor), known.id)
            recorder.to_device(array, contexts.context())


def stay(tensor: Any) -> None:
    """An op has given a tensor on the host, though it ran on the device."""
    known = storages.known_storage(tensor)
    if known is not None:
        known.placed = False
        if not known.aside:
            known.aside = True
            if no_gpu.aware:
                _native.storage_side(known.id, True)


# Where a tensor is.


def where(tensor: Any) -> bool | None:
    """Whether a tensor is on the device, and not on the host; None where nobody knows."""
    known = storages.known_storage(tensor)
    if known is None:
        return None
    return is_there(tensor, known) or (False if known.aside or is_hosts(known) else None)


def is_there(tensor: Any, known: Any) -> bool:
    """Whether a tensor was computed on the device, or is one that was put there or a part of one."""
    if is_hosts(known):
        return False
    if known.placed or not known.put:
        return known.placed  # type: ignore[no-any-return]
    first, last = _span(tensor)
    return any(begin <= first and last <= end and _is_held(*put) for *put, begin, end in known.put)


def _is_held(ref: Any, by: Line | None) -> bool:
    """Whether what was put on the device is there: while it lives or, where a line has handed it on, while that
    runs."""
    if ref() is None or by is None or session.phase == "backward":
        return ref() is not None
    frame = frames.caller()
    while frame is not None and frame.f_code is not by[0]:
        frame = frame.f_back
    return frame is not None and frame.f_lineno == by[1]


def holds(known: Any) -> bool:
    """Whether a storage has anything on the device."""
    return not is_hosts(known) and (known.placed or any(_is_held(*put) for *put, _, _ in known.put))


def is_hosts(known: Any) -> bool:
    """Whether the host's copy has taken the place of a storage that was on the device."""
    return bool(known.back) and session.phase != "backward"


def was_made_there(known: Any) -> None:
    """A storage is the device's, and was all along."""
    _come(known)
    known.placed = True


def _span(tensor: Any) -> tuple[int, int]:
    """The bytes of its storage that a tensor lies in: first, last. Of a sparse one: its values."""
    tensor = sparse_parts.parts(tensor)[-1]
    first, size = tensor.storage_offset(), tensor.element_size()
    if tensor.is_contiguous():
        extent = tensor.numel()
    else:
        extent = 1 + sum((length - 1) * stride for length, stride in zip(tensor.shape, tensor.stride()))
    return first * size, (first + extent) * size - 1


# A tensor is put on the device.


def line() -> tuple[Any, Line, bool]:
    """The frame of the script's line that calls what our caller stands in for, the line, and whether no library is
    between."""
    frame: Any = frames.caller()
    direct = True
    while frame.f_back is not None and "-packages" in frame.f_code.co_filename:
        frame, direct = frame.f_back, False
    return frame, (frame.f_code, frame.f_lineno), direct


def names_host(frame: Any, device: Any) -> bool:
    """Whether the call that a frame is at moves something to the host, and not to what it has for want of a GPU."""
    other = _tensor_of(call_words.device(frame))
    if other is not None:
        return where(other) is False
    return str(device) == "cpu" and call_words.says_host(*frames.at(frame))


def _names_device(frame: Any) -> bool | None:
    """Whether the call that a frame is at names the script's device; None where it may name the host's."""
    if getattr(sys.modules.get("torch.utils._device"), "CURRENT_DEVICE", None) is not None:
        return True
    value = call_words.device(frame)
    if (other := _tensor_of(value)) is not None:
        return where(other)
    if value is call_words.PERHAPS:
        return None
    return value is not None and not call_words.says_host(*frames.at(frame))


def _tensor_of(value: Any) -> Any:
    """A tensor that is on the device of what is a tensor, or a module that has not been told a device; else None."""
    if isinstance(value, no_gpu.torch.Tensor):
        return value
    if isinstance(value, no_gpu.torch.nn.Module) and "device" not in vars(value):
        return next(no_gpu.torch.nn.Module.parameters(value), None)
    return None


def put(tensor: Any, known: Any, by: Line, part: Any = None) -> None:
    """A tensor, whose storage is `known`, has been put on the script's device by this line; of a sparse one this
    part."""
    span = _span(tensor if part is None else part)
    known.put_by.add(by)
    _leaves_host(known)
    frame = frames.caller()
    handed_on = (frame.f_code, frame.f_lineno) == by and call_words.is_handed_on(*frames.at(frame))
    if any(ref() is tensor and over == [by if handed_on else None, *span] for ref, *over in known.put):
        return
    known.put[:] = [one for one in known.put if (other := one[0]()) is not None and other is not tensor]
    known.put.append((_copied_there(tensor, known, span, by, handed_on), by if handed_on else None, *span))


def _copied_there(tensor: Any, known: Any, span: tuple[int, int], by: Line, handed_on: bool) -> Any:
    """A tensor that spans these bytes of its storage takes memory of the device's; what to hold as long as it lives."""
    _learn()
    if not known.aside:
        return weakref.ref(tensor)
    frame = frames.caller()
    passing = frame.f_code is by[0] and (handed_on or call_words.is_let_go(*by))
    size = span[1] - span[0] + 1
    if size >= known.bytes and not (passing or tensor._is_view()):
        _come(known)
        return weakref.ref(tensor)
    copy = _native.storage_new(size, INPUT, False, True)
    if passing:
        # The variable held the copy that this instruction made before; the script may keep what it was made of.
        at = frame.f_code, frame.f_lasti
        _native.storage_freed(_copies.get(at, 0))
        _copies[at] = copy
    return weakref.ref(tensor, functools.partial(_native.storage_freed, copy))


def _come(known: Any) -> None:
    """A storage is on the device from now on, or was all along."""
    if known.aside:
        known.aside = False
        if no_gpu.aware:
            _native.storage_side(known.id, False)


def _learn() -> None:
    """The script puts something on its device, the first time: all that it has so far is on the host."""
    if no_gpu.tells and not no_gpu.aware:
        no_gpu.aware = True
        recorder.unseen("copies-by-rule", _NOTE)
        for known in list(storages.alive.values()):
            if known.aside:
                _native.storage_side(known.id, True)
        _native.sides_known()


# A tensor is copied back.


def comes(tensor: Any, known: Any) -> None:
    """A tensor is copied to the host by the call that runs; `known` is its storage."""
    if session.gpu is not None or (no_gpu.aware and where(tensor) is False):
        return
    frame = frames.caller()
    moves = frame.f_globals.get("__name__") == "torch.nn.modules.module"
    # Training goes on with these where they are.
    trained = known.role in (PARAMETER, GRADIENT, STATE)
    first, last = _span(tensor)
    replaced = not trained and call_words.is_replaced(frame.f_code, frame.f_lineno, frames.at(frame)[1])
    known.back = (moves or replaced) and last - first + 1 >= known.bytes
    if known.back:
        _move(known, True)


def _leaves_host(known: Any) -> None:
    """It is on the device all the same, or again."""
    if known.back is not None:
        if known.back:
            _move(known, False)
        known.back = None


def _move(known: Any, host: bool) -> None:
    """Its memory is the host's from now on, or the device's; the device has the values."""
    if no_gpu.aware and not known.aside:
        _native.storage_side(known.id, host)
        _native.storage_put(known.id, 0)


def is_read(known: Any, name: str) -> bool:
    """Whether the call that runs reads what the host has got; where nobody knows the storage, as it did last."""
    at = frames.place()
    if known is not None:
        # An array is made of what is on the host: a GPU's tensor has to be copied for it.
        hosts = bool(known.back) or (name == ARRAY and known.back is not None)
        if hosts != _of_host.get(at, False):
            _native.reads_differ()
        _of_host[at] = hosts
    return _of_host.get(at, False)


def know_placed() -> None:
    """What was put on the script's device unwatched is known from now on."""
    for tensor, line, entry in _native.placed_again():
        known = storages.stored(tensor, False)
        if known is not None:
            put(tensor, known, line)
            _native.storage_put(known.id, entry)
