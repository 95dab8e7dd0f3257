"""Calls that name a device, whose tensors are made on a GPU that is imitated, and what the host fills."""

from __future__ import annotations

import functools

from ..describe import contexts, likes, storages
from ..session import GPU, session
from ..sides import under_way
from ..sides.side import asked, named, where
from ..steps import sampler
from . import copies, generators, read_back

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Calls that the host fills a tensor in.
filled: set[Any] = set()


#: Tensors' methods before the script has put anything in their place; and what it has put there, by which.
_methods: dict[str, Any] = {}
_patched: dict[Any, Any] = {}


def know_methods(torch: Any) -> None:
    """All is in place that is ours."""
    _methods.update((name, getattr(torch.Tensor, name)) for name in dir(torch.Tensor))


def unpatched(func: Any) -> Any:
    """The method that a script's own function stands in for, which calls it: PyTorch names a call by what the
    method's name gives."""
    if str(func.__module__).startswith("torch.") or func in _patched:
        return _patched.get(func, func)
    for name, value in vars(session.torch.Tensor).items():
        if value is func and name in _methods:
            _patched[func] = _methods[name]
    return _patched.get(func, func)


def call(func: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """A call that names a device or a generator, or asks for pinned memory, of which there is none without a GPU."""
    wanted = named(kwargs.get("device"))
    if func in filled and args and read_back.is_lent(args[0]):
        return _of_lent(func, args[0], kwargs)
    if session.imitated is not None and kwargs.get("generator") is not None:
        kwargs = kwargs | {"generator": generators.drawing(kwargs["generator"], args, kwargs)}
    if session.imitated is not None and wanted != GPU and kwargs.get("pin_memory"):
        return pinned(call(func, args, {**kwargs, "pin_memory": False, "device": "cpu"}))
    # What a dispatch mode was handed names the device where tensors really are.
    if wanted is None or (wanted == "cpu" and isinstance(func, session.torch._ops.OpOverload)):
        return func(*args, **kwargs)
    # Without values what the host fills is made by ops, too.
    before, under_way.making.device = under_way.making.device, "cpu" if session.valueless and func in filled else wanted
    try:
        result = func(*args, **{**kwargs, "device": "cpu"})
    finally:
        under_way.making.device = before
    if sampler.unseen() and func not in filled and isinstance(result, session.torch.Tensor):
        with contexts.on_device(wanted):
            storages.stored(result)
        return result
    by_host = func in filled and not (args and isinstance(args[0], session.torch.Tensor))
    if wanted != "cpu" and isinstance(result, session.torch.Tensor) and (by_host or where(result) == "cpu"):
        # Filled by the host (`torch.tensor([1, 2], device="cuda")`): made there, then copied.
        moved = copies.move(result.detach(), wanted, False, "cpu")
        return moved.requires_grad_() if result.requires_grad else moved
    return result


def fill(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`torch.tensor` and its kin: the host fills what they give, of a GPU's numbers one after the other; a tensor
    that is to be on the host is copied there."""
    if not args:
        return call(func, args, kwargs)
    data, *rest = args
    if isinstance(data, session.torch.Tensor):
        data = _held(data, kwargs)
    elif isinstance(data, (list, tuple)) and any(_is_number(one) and _is_read(one, at) for at, one in enumerate(data)):
        if rest == [] and kwargs.get("dtype") is None:
            kwargs = {**kwargs, "dtype": functools.reduce(session.torch.promote_types, map(_kind, data))}
        data = [one.item() if _is_number(one) else one for one in data]
    return call(func, (data, *rest), kwargs)


def _of_lent(func: Any, data: Any, kwargs: dict[str, Any]) -> Any:
    """`torch.as_tensor` of what another library has on the GPU: its memory, unless the tensor is to be new, of another
    type, or on the host, which it is where nothing is said."""
    target = {"dtype": kwargs.get("dtype"), "device": kwargs.get("device") or "cpu"}
    if func == session.torch.tensor or kwargs.get("copy"):
        target["copy"] = True
    tensor = copies.to((session.torch.from_dlpack(data),), target)
    return tensor.requires_grad_() if kwargs.get("requires_grad") else tensor


def of_host(plain: Any) -> Any:
    """`torch.from_numpy`, say: a tensor that shares an array's memory, though steps that go unwatched may have made
    the like of it on the GPU."""

    @functools.wraps(plain)
    def shared(*args: Any, **kwargs: Any) -> Any:
        result = plain(*args, **kwargs)
        if sampler.state.unwatched:
            with session.torch._C.DisableTorchFunction():  # before anything else asks where it is
                storages.stored(result, False, likes.OF_HOST)
        return result

    return shared


def _held(data: Any, kwargs: dict[str, Any]) -> Any:
    """A tensor that another is filled with: on the host, where that one is to be there."""
    return copies.move(data, "cpu", False) if named(kwargs.get("device")) == "cpu" else data


def _is_number(value: Any) -> bool:
    return isinstance(value, session.torch.Tensor) and value.dim() == 0


def _is_read(number: Any, argument: int) -> bool:
    """Whether the number is not in memory that the host can look at."""
    return session.valueless or asked(number, argument) != "cpu"


def _kind(value: Any) -> Any:
    """The element type of a tensor that is filled with this alone."""
    return value.dtype if isinstance(value, session.torch.Tensor) else session.torch.tensor(value).dtype


def pinned(tensor: Any) -> Any:
    """The tensor, whose memory the GPU may read by itself."""
    # Not as made now: a loader pins in a thread of its own, while the script may be making things on the GPU.
    known = storages.stored(tensor, False, likes.OF_HOST)
    if known is not None:
        known.pinned = True
    return tensor
