"""Copies between the host and a GPU that is imitated: `.to`, `.cuda`, `copy_` and their kin."""

from __future__ import annotations

import threading

from . import _native, _torch_classes, _torch_ops, _torch_shown, _torch_side, _torch_sparse, _torch_steps, _torch_where
from ._torch_ops import GPU
from ._torch_side import asked, named, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Moving(threading.local):
    """The copy that this thread is making: name of the event, keywords, device of the result."""

    now: tuple[str, list[tuple[str, str]], str] | None = None


moving = _Moving()


def as_class(args: tuple[Any, ...], kwargs: Any) -> Any:
    """The name of a tensor's class, or the tensor as one of a class that is named."""
    kind = args[1] if len(args) > 1 else kwargs.get("dtype")
    if kind is None:
        name = str(_torch_side.lib._C.TensorBase.type(args[0]))
        return name.replace("torch.", "torch.cuda.", 1) if asked(args[0]) != "cpu" else name
    if isinstance(kind, _torch_side.lib.dtype):
        return _torch_side.lib._C.TensorBase.type(args[0], kind)
    name = _torch_classes.class_name(kind)
    plain = name.replace("torch.cuda.", "torch.", 1)
    if plain != name and _torch_side.gpu is None:
        return _torch_side.lib._C.TensorBase.type(args[0], plain)
    target = GPU if plain != name else "cpu"
    dtype = getattr(getattr(_torch_side.lib, plain.removeprefix("torch."), None), "dtype", None)
    if dtype is None:  # sparse, or no class
        return move(_torch_side.lib._C.TensorBase.type(args[0], plain), target, _flag(args, kwargs))
    return _move_as(args[0], target, dtype, _flag(args, kwargs))


def _flag(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return bool(kwargs.get("non_blocking", any(value is True for value in args[1:])))


def cuda(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    device = kwargs.get("device", next((value for value in args[1:2] if not isinstance(value, bool)), None))
    return move(args[0], named(GPU if device is None else device) or GPU, _flag(args, kwargs))


def to(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor, rest = args[0], list(args[1:])
    words = dict(kwargs)
    device = words.pop("device", None)
    if rest and isinstance(rest[0], _torch_side.lib.Tensor):
        other = rest.pop(0)
        device, rest = asked(other, 1), [other.dtype, *rest]
    elif rest and (rest[0] is None or isinstance(rest[0], (str, int, _torch_side.lib.device))) and not isinstance(rest[0], bool):
        device = rest.pop(0)
    target = named(device)
    if target is None and device is not None:
        return _torch_side.lib._C.TensorBase.to(tensor, device, *rest, **words)
    blocking = words.pop("non_blocking", None)
    dtype = words.pop("dtype", None)
    if rest and isinstance(rest[0], _torch_side.lib.dtype):
        dtype = rest.pop(0)
    if blocking is None and rest:
        blocking = rest.pop(0)
    if target is None:
        return _as_type(tensor, dtype, words)
    if target == (source := asked(tensor)):
        return move(_as_type(tensor, dtype, words), target, bool(blocking))
    words.pop("copy", None)
    return _as_type(_move_as(tensor, target, dtype, bool(blocking), source), None, words)  # laid out where it goes


def type_as(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`tensor.type_as(other)`: on the other's device, too."""
    return to((args[0], args[1] if len(args) > 1 else kwargs["other"]), {})


def parsed(plain: Any) -> Any:
    """What `module.to(tensor)` works out of its arguments: the device is the one that the tensor is on."""

    def parse(*args: Any, **kwargs: Any) -> Any:
        device, *rest = plain(*args, **kwargs)
        other = next((value for value in (*args, *kwargs.values()) if isinstance(value, _torch_side.lib.Tensor)), None)
        return (device if other is None else _torch_side.lib.device(asked(other)), *rest)

    return parse


def _as_type(tensor: Any, dtype: Any, words: dict[str, Any]) -> Any:
    """The tensor as another type, or laid out otherwise, on its device."""
    if words or dtype not in (None, tensor.dtype):
        return _torch_side.lib._C.TensorBase.to(tensor, dtype or tensor.dtype, **words)
    return tensor


def _move_as(tensor: Any, target: str, dtype: Any, non_blocking: bool, source: str | None = None) -> Any:
    """The tensor, which is on `source`, on another device and as another type. The host converts where it waits, and the GPU where it does not
    (`copy_kernel_cuda` of ATen's Copy.cu): before the copy on the side that it comes from, after it on the other."""
    first = non_blocking == (target == "cpu")
    moved = move(_as_type(tensor, dtype, {}) if first else tensor, target, non_blocking, source)
    result = _as_type(moved, dtype, {})
    if result is not moved and _torch_steps.unseen():
        with _torch_ops.on_device(target):
            _torch_ops.stored(result)
    return result


def move(tensor: Any, target: str, non_blocking: bool, source: str | None = None) -> Any:
    """The tensor on `target`: itself where it is there already, else a copy, which is recorded as such; `source`: where it is,
    if that is known."""
    if _torch_side.lib.nn.parameter.is_lazy(tensor):
        return _lazily(tensor, target)
    source = source or asked(tensor)
    if _torch_side.gpu is not None and source != target and tensor.layout is _torch_side.lib.jagged:
        return _rows(tensor, target, non_blocking)
    if _torch_side.gpu is None and target != "cpu":
        _torch_side.lib.cuda.init()  # as PyTorch would ask, whose copy this is not
    known = _torch_ops._known(tensor)
    if source == target:
        if target == "cpu":
            _torch_shown.read(tensor)
        return tensor
    pinned = known is not None and known.pinned
    keywords = [("pinned", str(pinned)), ("asynchronous", str(non_blocking))]
    name = "torch.Tensor.to" if target != "cpu" else "torch.Tensor.to_host"
    tensor = _returning(tensor, source, target)
    moving.now = (name, keywords, target)
    try:
        moved = tensor.clone()
        if _torch_steps.unseen() and _torch_side.gpu is not None and (refused := has_moved(tensor, moved, 0, 0)) is not None:
            raise refused
    finally:
        moving.now = None
    return moved


def _returning(tensor: Any, source: str, target: str) -> Any:
    """The tensor, which is about to be copied from `source`, and whose gradient is copied back there from `target`: after the
    script's own hooks of what is made of it, and before those of the tensor."""
    if _torch_side.gpu is None or not tensor.requires_grad or not _torch_side.lib.is_grad_enabled():
        return tensor
    if tensor.layout is not _torch_side.lib.strided or tensor.is_nested:
        return tensor
    alias = tensor.view_as(tensor)
    alias.register_hook(lambda gradient: move(gradient, source, False, target))
    return alias


def copy(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`tensor.copy_(other)`."""
    plain = _torch_side.lib._C.TensorBase.copy_
    if _torch_side.gpu is None or len(args) < 2 or not isinstance(args[1], _torch_side.lib.Tensor):
        return _native.call_noted(plain, args, kwargs)
    (tensor, other), target, source = args[:2], asked(args[0]), asked(args[1], 1)
    if target == source:
        return _native.call_noted(plain, args, kwargs)
    result = _native.call_noted(plain, (tensor, _returning(other, source, target), *args[2:]), kwargs)
    if _torch_steps.unseen():
        _torch_where.copied((tensor, other, _flag(args[1:], kwargs)), 0, 0)
    return result


def copy_each(plain: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`torch._foreach_copy_`, which copies one by one what is on the other side."""
    pairs = list(zip(args[0], args[1] if len(args) > 1 else kwargs["src"]))
    if all(where(tensor) == where(other) for tensor, other in pairs):
        return _native.call_noted(plain, args, kwargs)
    for tensor, other in pairs:
        copy((tensor, other, *args[2:]), {word: value for word, value in kwargs.items() if word == "non_blocking"})
    return None


def _lazily(tensor: Any, target: str) -> Any:
    """A parameter that has no shape yet is where it will be."""
    with _torch_side.lib._C.DisableTorchFunctionSubclass():
        known = _torch_ops.stored(tensor)
    if known is not None:
        known.device = target
    return tensor


def _rows(tensor: Any, target: str, non_blocking: bool) -> Any:
    """Rows of unlike length on another device: their values, where each begins, and how long it is where that is told apart."""
    from torch.nested._internal import nested_tensor as nested

    parts = [tensor.values(), tensor.offsets(), tensor.lengths()]
    values, begins, lengths = (None if part is None else move(part, target, non_blocking) for part in parts)
    length = nested._tensor_symint_registry
    length[lengths if lengths is not None else begins] = length[parts[2] if lengths is not None else parts[1]]
    extremes = tensor._maybe_min_seqlen, tensor._maybe_max_seqlen
    return nested.nested_view_from_values_offsets_lengths(values, begins, lengths, tensor._ragged_idx, *extremes)


def has_moved(tensor: Any, result: Any, own: int, gap: int) -> Any:
    """The copy being made has been; the GPU's error where there is no room for it."""
    name, keywords, target = moving.now or ("", [], "cpu")
    # Of a sparse tensor each array is copied by itself.
    for source, made in zip(_torch_sparse.parts(tensor), _torch_sparse.parts(result)):
        with _torch_ops.on_device(target):
            # It is known where it is also in steps that go unwatched: those that are not are others.
            known = _torch_ops.stored(made, like=(True, target, False, _torch_ops._role(made, True)))
        array = (*_torch_ops.described(made), known.id if known is not None else 0)
        if (refused := _torch_where.room()) is not None:
            return refused
        if made.numel() == 0:
            continue
        known = _torch_ops._known(source) if _torch_steps.unseen() else _torch_ops.stored(source, False)
        before = (*array[:4], known.id if known is not None else 0)
        if target == "cpu":
            _torch_ops.reads[_torch_ops.place()] = True
        with _torch_ops.on_device():
            inputs, outputs = ([], [array]) if target != "cpu" else ([before], [])
            _native.tensor_event(name, inputs, outputs, keywords, _torch_ops.context(), own, gap, True)
        own = gap = 0
    return None
