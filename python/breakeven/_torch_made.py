"""Calls that name a device, whose tensors are made on a GPU that is imitated, and what the host fills."""

from __future__ import annotations

import functools
import threading

from . import _torch_copies, _torch_draws, _torch_ops, _torch_shown, _torch_side, _torch_steps, _torch_unwatched
from ._torch_ops import GPU
from ._torch_side import asked, named, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Making(threading.local):
    """The device that the call which this thread is making names."""

    device: str | None = None


making = _Making()
#: Calls that the host fills a tensor in.
filled: set[Any] = set()


#: Tensors' methods before the script has put anything in their place; and what it has put there, by which.
_methods: dict[str, Any] = {}
_patched: dict[Any, Any] = {}


def know_methods(torch: Any) -> None:
    """All is in place that is ours."""
    _methods.update((name, getattr(torch.Tensor, name)) for name in dir(torch.Tensor))


def unpatched(func: Any) -> Any:
    """The method that a script's own function stands in for, which calls it: PyTorch names a call by what the method's name
    gives."""
    if str(func.__module__).startswith("torch.") or func in _patched:
        return _patched.get(func, func)
    for name, value in vars(_torch_side.lib.Tensor).items():
        if value is func and name in _methods:
            _patched[func] = _methods[name]
    return _patched.get(func, func)


def call(func: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """A call that names a device or a generator, or asks for pinned memory, of which there is none without a GPU."""
    wanted = named(kwargs.get("device"))
    if func in filled and args and _torch_shown.is_lent(args[0]):
        return _of_lent(func, args[0], kwargs)
    if _torch_side.gpu is not None and kwargs.get("generator") is not None:
        kwargs = kwargs | {"generator": _torch_draws.drawing(kwargs["generator"], args, kwargs)}
    if _torch_side.gpu is not None and wanted != GPU and kwargs.get("pin_memory"):
        return pinned(call(func, args, {**kwargs, "pin_memory": False, "device": "cpu"}))
    # What a dispatch mode was handed names the device where tensors really are.
    if wanted is None or (wanted == "cpu" and isinstance(func, _torch_side.lib._ops.OpOverload)):
        return func(*args, **kwargs)
    # Without values what the host fills is made by ops, too.
    before, making.device = making.device, "cpu" if _torch_ops.valueless and func in filled else wanted
    try:
        result = func(*args, **{**kwargs, "device": "cpu"})
    finally:
        making.device = before
    if _torch_steps.unseen() and func not in filled and isinstance(result, _torch_side.lib.Tensor):
        with _torch_ops.on_device(wanted):
            _torch_ops.stored(result)
        return result
    by_host = func in filled and not (args and isinstance(args[0], _torch_side.lib.Tensor))
    if wanted != "cpu" and isinstance(result, _torch_side.lib.Tensor) and (by_host or where(result) == "cpu"):
        # Filled by the host (`torch.tensor([1, 2], device="cuda")`): made there, then copied.
        moved = _torch_copies.move(result.detach(), wanted, False, "cpu")
        return moved.requires_grad_() if result.requires_grad else moved
    return result


def fill(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`torch.tensor` and its kin: the host fills what they give, of a GPU's numbers one after the other; a tensor that is to be
    on the host is copied there."""
    if not args:
        return call(func, args, kwargs)
    data, *rest = args
    if isinstance(data, _torch_side.lib.Tensor):
        data = _held(data, kwargs)
    elif isinstance(data, (list, tuple)) and any(_is_number(one) and _is_read(one, at) for at, one in enumerate(data)):
        if rest == [] and kwargs.get("dtype") is None:
            kwargs = {**kwargs, "dtype": functools.reduce(_torch_side.lib.promote_types, map(_kind, data))}
        data = [one.item() if _is_number(one) else one for one in data]
    return call(func, (data, *rest), kwargs)


def _of_lent(func: Any, data: Any, kwargs: dict[str, Any]) -> Any:
    """`torch.as_tensor` of what another library has on the GPU: its memory, unless the tensor is to be new, of another
    type, or on the host, which it is where nothing is said."""
    target = {"dtype": kwargs.get("dtype"), "device": kwargs.get("device") or "cpu"}
    if func == _torch_side.lib.tensor or kwargs.get("copy"):
        target["copy"] = True
    tensor = _torch_copies.to((_torch_side.lib.from_dlpack(data),), target)
    return tensor.requires_grad_() if kwargs.get("requires_grad") else tensor


def of_host(plain: Any) -> Any:
    """`torch.from_numpy`, say: a tensor that shares an array's memory, though steps that go unwatched may have made the like of
    it on the GPU."""

    @functools.wraps(plain)
    def shared(*args: Any, **kwargs: Any) -> Any:
        result = plain(*args, **kwargs)
        if _torch_steps.unwatched:
            with _torch_side.lib._C.DisableTorchFunction():  # before anything else asks where it is
                _torch_ops.stored(result, False, _torch_unwatched.OF_HOST)
        return result

    return shared


def _held(data: Any, kwargs: dict[str, Any]) -> Any:
    """A tensor that another is filled with: on the host, where that one is to be there."""
    return _torch_copies.move(data, "cpu", False) if named(kwargs.get("device")) == "cpu" else data


def _is_number(value: Any) -> bool:
    return isinstance(value, _torch_side.lib.Tensor) and value.dim() == 0


def _is_read(number: Any, argument: int) -> bool:
    """Whether the number is not in memory that the host can look at."""
    return _torch_ops.valueless or asked(number, argument) != "cpu"


def _kind(value: Any) -> Any:
    """The element type of a tensor that is filled with this alone."""
    return value.dtype if isinstance(value, _torch_side.lib.Tensor) else _torch_side.lib.tensor(value).dtype


def pinned(tensor: Any) -> Any:
    """The tensor, whose memory the GPU may read by itself."""
    # Not as made now: a loader pins in a thread of its own, while the script may be making things on the GPU.
    known = _torch_ops.stored(tensor, False, _torch_unwatched.OF_HOST)
    if known is not None:
        known.pinned = True
    return tensor
