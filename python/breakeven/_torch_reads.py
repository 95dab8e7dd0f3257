"""What PyTorch does without its dispatcher: values read on the host, and copies to where a tensor already is.

A script that asks `is_available()` takes its CPU branch here, so `.to(device)` moves nothing; on a GPU it would. The
first such call on a tensor is recorded as the copy that it stands for.
"""

from __future__ import annotations

import weakref

from . import (
    _native,
    _torch_files,
    _torch_gpu,
    _torch_modules,
    _torch_ops,
    _torch_placement,
    _torch_sparse,
    _torch_steps,
    _torch_unwatched,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_torch: Any = None
#: Lines that move tensors, and whether one of these was not on the script's device already.
_puts: dict[Any, bool] = {}
#: What was last copied to the host of what nobody saw being made.
_copied: Any = None


def prepare(torch: Any) -> None:
    """Learn what is stood in for."""
    global _torch
    _torch = torch


def install(torch: Any) -> None:
    """Put stand-ins over the methods."""
    install_moves(torch)
    _torch_files.install_aside(torch)
    watch(torch._tensor_str, "_str", torch._tensor_str._str, _enter_text, _leave_text)


def install_moves(torch: Any) -> None:
    """Put stand-ins over what copies tensors to a device that is not there, and back."""
    for name in ("numpy", "tolist", "cpu"):
        watch(torch.Tensor, name, getattr(torch._C.TensorBase, name), _enter, _read)
    modes = torch._C._len_torch_function_stack
    for name in ("to", "cuda"):
        plain = getattr(torch._C.TensorBase, name)
        _torch_modules.put(torch.Tensor, name, _native.Moves(plain, name, _moved, _torch_ops._live, torch.Tensor, modes), plain)
    _torch_placement.install(torch)
    watch(torch, "as_tensor", torch.as_tensor, _enter, _filled)


def watch(holder: Any, name: str, plain: Any, enter: Any, leave: Any) -> None:
    """Tell `leave` of each call of `holder.name`."""
    _torch_modules.put(holder, name, _native.Named(plain, name, enter, leave), plain)


def _enter(name: str) -> str:
    return name


def _is_called_again(method: str) -> bool:
    """Whether a mode or class that PyTorch's calls pass through makes the call that is told already."""
    frame = _torch_ops.caller()
    if frame.f_code.co_name != "__torch_function__":
        return False
    return any(value is getattr(_torch.Tensor, method) for value in _torch_ops.variables(frame).values())


def _unseen_by_script(told: Any) -> Any:
    """`told`, whose questions reach no `__torch_function__` of the script's classes and modes."""

    def hidden(*given: Any) -> Any:
        with _torch._C.DisableTorchFunction():
            return told(*given)

    return hidden


@_unseen_by_script
def _read(name: str, inputs: tuple[Any, ...], result: Any, _: Any = None) -> None:
    if result is not None and inputs and not _printing and _native.recording() and not _is_called_again(name):
        read(inputs[0], f"torch.Tensor.{name}")


def read(tensor: Any, name: str) -> None:
    """The host reads this tensor's values."""
    global _copied
    if _torch_ops.gpu is not None and not (_torch_steps.unseen() and _torch_ops.on_gpu(tensor)):
        return  # the op that copies it tells, and what is on the host is there
    know_placed()
    known = _torch_ops._known(tensor)
    if _torch_placement.is_read(tensor, known, name) or (name != _torch_placement.COPY and _is_copied(tensor)):
        return
    _copied = weakref.ref(tensor) if name == _torch_placement.COPY and known is None else None
    if _copied is not None:
        _native.reads_differ()
    for part in _torch_sparse.parts(tensor):
        _read_part(part, name)
    if _copied is not None and (known := _torch_ops._known(tensor)) is not None and known.back is not None:
        _copied = None  # by that more is known


def _is_copied(tensor: Any) -> bool:
    """Whether it is what `.cpu()` gave, which is there, of what nobody saw being made."""
    return _copied is not None and _copied() is tensor


def _read_part(tensor: Any, name: str) -> None:
    place = _torch_ops.place()
    if _torch_ops._known(tensor) is None and (_torch_steps.unseen() or _torch_ops.reads.get(place)):
        _read_unwatched(tensor, name)
        return
    array = _torch_ops.describe(tensor)
    context = _torch_ops.context(None, _torch_ops.on_gpu(tensor), _torch_placement.where(tensor) is False)
    _torch_ops.reads[place] = there = _native.tensor_event(name, [array], [], [], context, 0, 0)
    _torch_unwatched.is_read(place, tensor, there)
    if name == _torch_placement.COPY and (known := _torch_ops._known(tensor)) is not None:
        _torch_placement.comes(tensor, known)


def _read_unwatched(tensor: Any, name: str) -> bool:
    """The same of a tensor that nobody saw being made: where it is, the others that were read here tell. Whether a device has
    it."""
    phase = _torch_ops.phase
    if phase == "data" or (_torch_ops.device is not None and _torch_modules.where() == "cpu"):
        return False
    known = _torch_ops._known(tensor)
    # An optimizer asks its own counters, but for what it was seen to ask a device.
    like = None if phase == "optimizer" or known is not None else _torch_unwatched.of_tensor(tensor)
    if known is not None and _torch_ops.device is not None:
        there = known.device != "cpu"
    elif known is not None and _torch_placement.where(tensor) is False:
        there = False
    elif (was := _torch_unwatched.was_read(_torch_ops.place(), tensor)) is not None:
        there = was
    elif like is not None:
        there = _is_computed(like)
    else:
        there = _torch_ops.reads.get(_torch_ops.place(), phase != "optimizer")
    if there:
        array = (*_torch_ops.described(tensor), 0)
        with _torch_ops.on_device():
            context = _torch_ops.context({"self": tensor}, _torch_ops.on_gpu(tensor))
            _native.tensor_event(name, [array], [], [], context, 0, 0)
        if name == _torch_placement.COPY and _torch_placement.now.tells:
            known = known or _torch_ops.stored(tensor, False, like or (True, None, True, _torch_ops.ACTIVATION))
            if known is not None:
                _torch_placement.comes(tensor, known)
    return there


def _is_computed(like: _torch_unwatched.Like) -> bool:
    """Whether what was made unwatched was computed where a GPU would do so."""
    by_op, device, *_ = like
    return by_op and device != "cpu"


#: What reads one value. The dispatch mode tells of it as long as there is one, and of values that PyTorch's own C++ reads.
_SINGLE = ("item", "__float__", "__int__", "__bool__", "__index__", "__complex__")


def install_single(torch: Any) -> None:
    """Put stand-ins over what reads single values."""
    of, modes = torch.Tensor, torch._C._len_torch_function_stack
    for name in _SINGLE:
        plain = getattr(torch._C.TensorBase, name)
        stand_in = _native.Reads(plain, _enter_single, _read_single, _torch_ops._live, of, modes, _torch_ops.now())
        _torch_modules.put(of, name, stand_in, plain)


def _enter_single() -> None:
    _torch_ops.asking += 1  # a mode of PyTorch's functions calls again what it was called for


def _read_single(inputs: tuple[Any, ...], result: Any) -> bool:
    """Whether that was told of, and would be of the next one like it, unless `reads_differ`."""
    _torch_ops.asking -= 1
    if _torch_ops.asking or result is None or not inputs:
        return False
    return bool(_torch_steps.unseen() and _native.recording() and _told_single(inputs[0]))


@_unseen_by_script
def _told_single(tensor: Any) -> bool:
    # Without values PyTorch reads numbers that it is about to make tensors of.
    if _torch_ops.valueless and type(tensor) is _torch.Tensor:
        return False
    if _torch_placement.is_read(tensor, _torch_ops._known(tensor), _torch_ops.READ) or _is_copied(tensor):
        return False
    return _read_unwatched(tensor, _torch_ops.READ) and _copied is None


@_unseen_by_script
def _moved(name: str, inputs: tuple[Any, ...], result: Any, kwargs: dict[str, Any] | None = None) -> Any:
    """A tensor has been moved; where it was put on the script's device as it is, the line that did so."""
    if _torch_ops.gpu is not None:
        return _torch_gpu.moved(inputs[0], result, kwargs) if _torch_steps.unseen() else None
    device, given = _device(name, inputs, kwargs), inputs[0]
    tensor = given if isinstance(given, _torch.Tensor) else result
    within = "torch." if isinstance(device, _torch.Tensor) else "torch._" if _torch_ops.valueless else None
    if device is None or (within is not None and _caller_is_of(within)) or _is_called_again(name):
        return None
    know_placed()
    frame, line, direct = _torch_placement.line()
    if not isinstance(device, _torch.Tensor) and _torch_placement.names_host(frame, device):
        if _may_be_there(tensor):
            read(tensor, _torch_placement.COPY)
        else:
            _puts.setdefault(line, False)
        return None
    if _torch_steps.unseen() and not _puts.get(line, True) and _torch_ops._known(tensor) is None:
        return None  # as while somebody watched
    _puts.setdefault(line, False)
    if tensor is not given:
        _torch_ops.stored(tensor, False, _torch_unwatched.OF_HOST)
    placed = False
    for part in _torch_sparse.parts(tensor):
        placed |= _part_moved(given, part, result, line, direct)
    return line if placed else None


def _caller_is_of(modules: str) -> bool:
    """Whether PyTorch calls, which makes tensors like others in the midst of what it was asked for, and works out their shapes."""
    return str(_torch_ops.caller().f_globals.get("__name__")).startswith(modules)


def _is_put_already(known: Any, line: Any) -> bool:
    """Whether a network is given what is on the device, and moves it there once more. Else a line copies it each time."""
    return line not in known.put_by and (bool(_torch_ops.path) or not known.put)


def _part_moved(given: Any, part: Any, result: Any, line: Any, direct: bool) -> bool:
    """Whether a part of a tensor that was given, or all of it, is put on the script's device as it is."""
    # What nobody saw being made is like what the line has put there before.
    as_before = direct and _puts.get(line) and _torch_ops._known(part) is None
    known = _torch_ops.stored(part, False, _torch_unwatched.OF_HOST if as_before else None)
    if known is None or (_is_there(part, known) and (known.placed or not direct or _is_put_already(known, line))):
        return False
    _puts[line] = True
    if result is given:
        _torch_placement.put(result, known, line, part)
        array = (*_torch_ops.described(part), known.id)
    else:
        array = _torch_ops.describe(result, True)
        if (copied := _torch_ops._known(result)) is not None:
            _torch_placement.was_made_there(copied)
    _native.tensor_event("torch.Tensor.to", [], [array], [], _torch_ops.context(), 0, 0, True)
    return result is given


@_unseen_by_script
def _filled(_: str, inputs: tuple[Any, ...], result: Any, kwargs: dict[str, Any] | None = None) -> None:
    """`torch.as_tensor` of an array shares its memory here, and is a copy where it names a device."""
    device = (kwargs or {}).get("device", inputs[2] if len(inputs) > 2 else None)
    if device is not None and result is not None and inputs and _native.recording():
        _moved("to", (inputs[0], device), result)


def know_placed() -> None:
    """What was put on the script's device unwatched is known from now on."""
    for tensor, line, entry in _native.placed_again():
        known = _torch_ops.stored(tensor, False)
        if known is not None:
            _torch_placement.put(tensor, known, line)
            _native.storage_put(known.id, entry)


def _may_be_there(tensor: Any) -> bool:
    """Whether a GPU would have the tensor, as far as one can tell of what nobody saw being made."""
    if (known := _torch_ops._known(tensor)) is not None:
        return known.back is not None or _is_there(tensor, known)
    like = _torch_unwatched.of_tensor(tensor)
    return like is None or like[2] or like[3] == _torch_ops.ACTIVATION


def _is_there(tensor: Any, known: Any) -> bool:
    if _torch_placement.is_hosts(known):
        return False
    return (known.role == _torch_ops.ACTIVATION and not known.aside) or _torch_placement.is_there(tensor, known)


def _device(name: str, inputs: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """The device that the arguments name, or a tensor on it; None where they name none."""
    if name == "cuda":
        return name
    named = (*inputs[1:2], (kwargs or {}).get("device"), (kwargs or {}).get("other"))
    return next((value for value in named if isinstance(value, (str, _torch.device, _torch.Tensor))), None)


#: Tensors being printed, one within another: their text reads them once.
_printing = 0


def _enter_text(_: str) -> int:
    global _printing
    _printing += 1
    _torch_ops.asking += 1  # what is read one by one is read as a whole
    return _native.enter("torch.Tensor.__repr__")


@_unseen_by_script
def _leave_text(token: int, inputs: tuple[Any, ...], result: Any, _: Any = None) -> None:
    global _printing
    _printing -= 1
    _torch_ops.asking -= 1
    _native.leave(token, (), None)
    if result is not None and inputs and token:
        read(inputs[0], "torch.Tensor.__repr__")
