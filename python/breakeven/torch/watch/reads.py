"""What PyTorch does without its dispatcher: values read on the host, and copies to where a tensor already is.

A script that asks `is_available()` takes its CPU branch here, so `.to(device)` moves nothing; on a GPU it would. The
first such call on a tensor is recorded as the copy that it stands for.
"""

from __future__ import annotations

import weakref

from ... import _native
from ...events import recorder
from .. import frames, patch, real_gpu, saved_files
from ..describe import called_modules, contexts, likes, operands, sparse_parts, storages
from ..no_gpu import placement
from ..session import ACTIVATION, READ, fields, no_gpu, reads, session
from ..steps import sampler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    #: What was last copied to the host of what nobody saw being made.
    copied: Any = None
    #: Tensors being printed, one within another: their text reads them once.
    printing = 0


state = State()

#: Lines that move tensors, and whether one of these was not on the script's device already.
_puts: dict[Any, bool] = {}


def prepare(torch: Any) -> None:
    """Learn what is stood in for."""
    session.torch = torch


def install(torch: Any) -> None:
    """Put stand-ins over the methods."""
    install_moves(torch)
    saved_files.install_aside(torch)
    patch.watch(torch._tensor_str, "_str", torch._tensor_str._str, _enter_text, _leave_text)


def install_moves(torch: Any) -> None:
    """Put stand-ins over what copies tensors to a device that is not there, and back."""
    for name in ("numpy", "tolist", "cpu"):
        patch.watch(torch.Tensor, name, getattr(torch._C.TensorBase, name), _enter, _read)
    modes = torch._C._len_torch_function_stack
    for name in ("to", "cuda"):
        plain = getattr(torch._C.TensorBase, name)
        patch.put(torch.Tensor, name, _native.Moves(plain, name, _moved, storages.alive, torch.Tensor, modes), plain)
    placement.install(torch)
    patch.watch(torch, "as_tensor", torch.as_tensor, _enter, _filled)


def _enter(name: str) -> str:
    return name


def _is_called_again(method: str) -> bool:
    """Whether a mode or class that PyTorch's calls pass through makes the call that is told already."""
    frame = frames.caller()
    if frame.f_code.co_name != "__torch_function__":
        return False
    return any(value is getattr(session.torch.Tensor, method) for value in frames.variables(frame).values())


@patch.unseen_by_script
def _read(name: str, inputs: tuple[Any, ...], result: Any, _: Any = None) -> None:
    if result is not None and inputs and not state.printing and _native.recording() and not _is_called_again(name):
        read(inputs[0], f"torch.Tensor.{name}")


def read(tensor: Any, name: str) -> None:
    """The host reads this tensor's values."""
    if session.gpu is not None and not (sampler.unseen() and storages.on_gpu(tensor)):
        return  # the op that copies it tells, and what is on the host is there
    placement.know_placed()
    known = storages.known_storage(tensor)
    if placement.is_read(known, name) or (name != placement.COPY and _is_copied(tensor)):
        return
    state.copied = weakref.ref(tensor) if name == placement.COPY and known is None else None
    if state.copied is not None:
        _native.reads_differ()
    for part in sparse_parts.parts(tensor):
        _read_part(part, name)
    if state.copied is not None and (known := storages.known_storage(tensor)) is not None and known.back is not None:
        state.copied = None  # by that more is known


def _is_copied(tensor: Any) -> bool:
    """Whether it is what `.cpu()` gave, which is there, of what nobody saw being made."""
    return state.copied is not None and state.copied() is tensor


def _read_part(tensor: Any, name: str) -> None:
    place = frames.place()
    if storages.known_storage(tensor) is None and (sampler.unseen() or reads.get(place)):
        _read_unwatched(tensor, name)
        return
    array = operands.describe(tensor)
    context = contexts.context(None, storages.on_gpu(tensor), placement.where(tensor) is False)
    reads[place] = there = recorder.op(name, [array], [], [], context, 0, 0)
    likes.is_read(place, tensor, there)
    if name == placement.COPY and (known := storages.known_storage(tensor)) is not None:
        placement.comes(tensor, known)


def _read_unwatched(tensor: Any, name: str) -> bool:
    """The same of a tensor that nobody saw being made: where it is, the others that were read here tell. Whether a
    device has it."""
    phase = session.phase
    if phase == "data" or (session.device is not None and called_modules.where() == "cpu"):
        return False
    known = storages.known_storage(tensor)
    # An optimizer asks its own counters, but for what it was seen to ask a device.
    like = None if phase == "optimizer" or known is not None else likes.of_tensor(tensor)
    if known is not None and session.device is not None:
        there = known.device != "cpu"
    elif known is not None and placement.where(tensor) is False:
        there = False
    elif (was := likes.was_read(frames.place(), tensor)) is not None:
        there = was
    elif like is not None:
        there = _is_computed(like)
    else:
        there = reads.get(frames.place(), phase != "optimizer")
    if there:
        array = (*operands.described(tensor), 0)
        with contexts.on_device():
            context = contexts.context({"self": tensor}, storages.on_gpu(tensor))
            recorder.op(name, [array], [], [], context, 0, 0)
        if name == placement.COPY and no_gpu.tells:
            known = known or storages.stored(tensor, False, like or (True, None, True, ACTIVATION))
            if known is not None:
                placement.comes(tensor, known)
    return there


def _is_computed(like: likes.Like) -> bool:
    """Whether what was made unwatched was computed where a GPU would do so."""
    by_op, device, *_ = like
    return by_op and device != "cpu"


#: What reads one value. The dispatch mode tells of it as long as there is one, and of values that PyTorch's own C++
#: reads.
_SINGLE = ("item", "__float__", "__int__", "__bool__", "__index__", "__complex__")


def install_single(torch: Any) -> None:
    """Put stand-ins over what reads single values."""
    of, modes = torch.Tensor, torch._C._len_torch_function_stack
    for name in _SINGLE:
        plain = getattr(torch._C.TensorBase, name)
        stand_in = _native.Reads(plain, _enter_single, _read_single, storages.alive, of, modes, fields())
        patch.put(of, name, stand_in, plain)


def _enter_single() -> None:
    session.asking += 1  # a mode of PyTorch's functions calls again what it was called for


def _read_single(inputs: tuple[Any, ...], result: Any) -> bool:
    """Whether that was told of, and would be of the next one like it, unless `reads_differ`."""
    session.asking -= 1
    if session.asking or result is None or not inputs:
        return False
    return bool(sampler.unseen() and _native.recording() and _told_single(inputs[0]))


@patch.unseen_by_script
def _told_single(tensor: Any) -> bool:
    # Without values PyTorch reads numbers that it is about to make tensors of.
    if session.valueless and type(tensor) is session.torch.Tensor:
        return False
    if placement.is_read(storages.known_storage(tensor), READ) or _is_copied(tensor):
        return False
    return _read_unwatched(tensor, READ) and state.copied is None


@patch.unseen_by_script
def _moved(name: str, inputs: tuple[Any, ...], result: Any, kwargs: dict[str, Any] | None = None) -> Any:
    """A tensor has been moved; where it was put on the script's device as it is, the line that did so."""
    if session.gpu is not None:
        return real_gpu.moved(inputs[0], result, kwargs) if sampler.unseen() else None
    device, given = _device(name, inputs, kwargs), inputs[0]
    tensor = given if isinstance(given, session.torch.Tensor) else result
    within = "torch." if isinstance(device, session.torch.Tensor) else "torch._" if session.valueless else None
    if device is None or (within is not None and _caller_is_of(within)) or _is_called_again(name):
        return None
    placement.know_placed()
    frame, line, direct = placement.line()
    if not isinstance(device, session.torch.Tensor) and placement.names_host(frame, device):
        if _may_be_there(tensor):
            read(tensor, placement.COPY)
        else:
            _puts.setdefault(line, False)
        return None
    if sampler.unseen() and not _puts.get(line, True) and storages.known_storage(tensor) is None:
        return None  # as while somebody watched
    _puts.setdefault(line, False)
    if tensor is not given:
        storages.stored(tensor, False, likes.OF_HOST)
    placed = False
    for part in sparse_parts.parts(tensor):
        placed |= _part_moved(given, part, result, line, direct)
    return line if placed else None


def _caller_is_of(modules: str) -> bool:
    """Whether PyTorch calls, which makes tensors like others in the midst of what it was asked for, and works out
    their shapes."""
    return str(frames.caller().f_globals.get("__name__")).startswith(modules)


def _is_put_already(known: Any, line: Any) -> bool:
    """Whether a network is given what is on the device, and moves it there once more. Else a line copies it each
    time."""
    return line not in known.put_by and (bool(session.path) or not known.put)


def _part_moved(given: Any, part: Any, result: Any, line: Any, direct: bool) -> bool:
    """Whether a part of a tensor that was given, or all of it, is put on the script's device as it is."""
    # What nobody saw being made is like what the line has put there before.
    as_before = direct and _puts.get(line) and storages.known_storage(part) is None
    known = storages.stored(part, False, likes.OF_HOST if as_before else None)
    if known is None or (_is_there(part, known) and (known.placed or not direct or _is_put_already(known, line))):
        return False
    _puts[line] = True
    if result is given:
        placement.put(result, known, line, part)
        array = (*operands.described(part), known.id)
    else:
        array = operands.describe(result, True)
        if (copied := storages.known_storage(result)) is not None:
            placement.was_made_there(copied)
    recorder.to_device(array, contexts.context(), True)
    return result is given


@patch.unseen_by_script
def _filled(_: str, inputs: tuple[Any, ...], result: Any, kwargs: dict[str, Any] | None = None) -> None:
    """`torch.as_tensor` of an array shares its memory here, and is a copy where it names a device."""
    device = (kwargs or {}).get("device", inputs[2] if len(inputs) > 2 else None)
    if device is not None and result is not None and inputs and _native.recording():
        _moved("to", (inputs[0], device), result)


def _may_be_there(tensor: Any) -> bool:
    """Whether a GPU would have the tensor, as far as one can tell of what nobody saw being made."""
    if (known := storages.known_storage(tensor)) is not None:
        return known.back is not None or _is_there(tensor, known)
    like = likes.of_tensor(tensor)
    return like is None or like[2] or like[3] == ACTIVATION


def _is_there(tensor: Any, known: Any) -> bool:
    if placement.is_hosts(known):
        return False
    return (known.role == ACTIVATION and not known.aside) or placement.is_there(tensor, known)


def _device(name: str, inputs: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """The device that the arguments name, or a tensor on it; None where they name none."""
    if name == "cuda":
        return name
    named = (*inputs[1:2], (kwargs or {}).get("device"), (kwargs or {}).get("other"))
    return next(
        (value for value in named if isinstance(value, (str, session.torch.device, session.torch.Tensor))), None
    )


def _enter_text(_: str) -> int:
    state.printing += 1
    session.asking += 1  # what is read one by one is read as a whole
    return _native.enter("torch.Tensor.__repr__")


@patch.unseen_by_script
def _leave_text(token: int, inputs: tuple[Any, ...], result: Any, _: Any = None) -> None:
    state.printing -= 1
    session.asking -= 1
    _native.leave(token, (), None)
    if result is not None and inputs and token:
        read(inputs[0], "torch.Tensor.__repr__")
