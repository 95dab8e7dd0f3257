"""Copies between the host and a GPU that is imitated: `.to`, `.cuda`, `copy_` and their kin."""

from __future__ import annotations

from ... import _native
from ...events import recorder
from .. import frames, real_gpu
from ..describe import contexts, operands, sparse_parts, storages
from ..session import GPU, reads, session
from ..sides import under_way
from ..sides.side import asked, named, where
from ..steps import sampler
from . import gpu_memory, graphs, read_back, tensor_types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def as_class(args: tuple[Any, ...], kwargs: Any) -> Any:
    """The name of a tensor's class, or the tensor as one of a class that is named."""
    kind = args[1] if len(args) > 1 else kwargs.get("dtype")
    if kind is None:
        name = str(session.torch._C.TensorBase.type(args[0]))
        return name.replace("torch.", "torch.cuda.", 1) if asked(args[0]) != "cpu" else name
    if isinstance(kind, session.torch.dtype):
        return session.torch._C.TensorBase.type(args[0], kind)
    name = tensor_types.class_name(kind)
    plain = name.replace("torch.cuda.", "torch.", 1)
    if plain != name and session.imitated is None:
        return session.torch._C.TensorBase.type(args[0], plain)
    target = GPU if plain != name else "cpu"
    dtype = getattr(getattr(session.torch, plain.removeprefix("torch."), None), "dtype", None)
    if dtype is None:  # sparse, or no class
        return move(session.torch._C.TensorBase.type(args[0], plain), target, _flag(args, kwargs))
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
    if rest and isinstance(rest[0], session.torch.Tensor):
        other = rest.pop(0)
        device, rest = asked(other, 1), [other.dtype, *rest]
    elif (
        rest
        and (rest[0] is None or isinstance(rest[0], (str, int, session.torch.device)))
        and not isinstance(rest[0], bool)
    ):
        device = rest.pop(0)
    target = named(device)
    if target is None and device is not None:
        return session.torch._C.TensorBase.to(tensor, device, *rest, **words)
    blocking = words.pop("non_blocking", None)
    dtype = words.pop("dtype", None)
    if rest and isinstance(rest[0], session.torch.dtype):
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
        other = next((value for value in (*args, *kwargs.values()) if isinstance(value, session.torch.Tensor)), None)
        return (device if other is None else session.torch.device(asked(other)), *rest)

    return parse


def _as_type(tensor: Any, dtype: Any, words: dict[str, Any]) -> Any:
    """The tensor as another type, or laid out otherwise, on its device."""
    if words or dtype not in (None, tensor.dtype):
        return session.torch._C.TensorBase.to(tensor, dtype or tensor.dtype, **words)
    return tensor


def _move_as(tensor: Any, target: str, dtype: Any, non_blocking: bool, source: str | None = None) -> Any:
    """The tensor, which is on `source`, on another device and as another type. The host converts where it waits, and
    the GPU where it does not (`copy_kernel_cuda` of ATen's Copy.cu): before the copy on the side that it comes from,
    after it on the other."""
    first = non_blocking == (target == "cpu")
    moved = move(_as_type(tensor, dtype, {}) if first else tensor, target, non_blocking, source)
    result = _as_type(moved, dtype, {})
    if result is not moved and sampler.unseen():
        with contexts.on_device(target):
            storages.stored(result)
    return result


def move(tensor: Any, target: str, non_blocking: bool, source: str | None = None) -> Any:
    """The tensor on `target`: itself where it is there already, else a copy, which is recorded as such; `source`:
    where it is, if that is known."""
    if session.torch.nn.parameter.is_lazy(tensor):
        return _lazily(tensor, target)
    source = source or asked(tensor)
    if session.imitated is not None and source != target and tensor.layout is session.torch.jagged:
        return _rows(tensor, target, non_blocking)
    if session.imitated is None and target != "cpu":
        session.torch.cuda.init()  # as PyTorch would ask, whose copy this is not
    known = storages.known_storage(tensor)
    if source == target:
        if target == "cpu":
            read_back.read(tensor)
        return tensor
    pinned = known is not None and known.pinned
    keywords = [("pinned", str(pinned)), ("asynchronous", str(non_blocking))]
    name = recorder.TO_DEVICE if target != "cpu" else recorder.TO_HOST
    tensor = _returning(tensor, source, target)
    under_way.moving.now = (name, keywords, target)
    try:
        moved = tensor.clone()
        if (
            sampler.unseen()
            and session.imitated is not None
            and (refused := has_moved(tensor, moved, 0, 0)) is not None
        ):
            raise refused
    finally:
        under_way.moving.now = None
    return moved


def _returning(tensor: Any, source: str, target: str) -> Any:
    """The tensor, which is about to be copied from `source`, and whose gradient is copied back there from `target`:
    after the script's own hooks of what is made of it, and before those of the tensor."""
    if session.imitated is None or not tensor.requires_grad or not session.torch.is_grad_enabled():
        return tensor
    if tensor.layout is not session.torch.strided or tensor.is_nested:
        return tensor
    alias = tensor.view_as(tensor)
    alias.register_hook(lambda gradient: move(gradient, source, False, target))
    return alias


def copy(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`tensor.copy_(other)`."""
    plain = session.torch._C.TensorBase.copy_
    if session.imitated is None or len(args) < 2 or not isinstance(args[1], session.torch.Tensor):
        return _native.call_noted(plain, args, kwargs)
    (tensor, other), target, source = args[:2], asked(args[0]), asked(args[1], 1)
    if target == source:
        return _native.call_noted(plain, args, kwargs)
    result = _native.call_noted(plain, (tensor, _returning(other, source, target), *args[2:]), kwargs)
    if sampler.unseen():
        copied((tensor, other, _flag(args[1:], kwargs)), 0, 0)
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
    with session.torch._C.DisableTorchFunctionSubclass():
        known = storages.stored(tensor)
    if known is not None:
        known.device = target
    return tensor


def _rows(tensor: Any, target: str, non_blocking: bool) -> Any:
    """Rows of unlike length on another device: their values, where each begins, and how long it is where that is
    told apart."""
    from torch.nested._internal import nested_tensor as nested

    parts = [tensor.values(), tensor.offsets(), tensor.lengths()]
    values, begins, lengths = (None if part is None else move(part, target, non_blocking) for part in parts)
    length = nested._tensor_symint_registry
    length[lengths if lengths is not None else begins] = length[parts[2] if lengths is not None else parts[1]]
    extremes = tensor._maybe_min_seqlen, tensor._maybe_max_seqlen
    return nested.nested_view_from_values_offsets_lengths(values, begins, lengths, tensor._ragged_idx, *extremes)


def has_moved(tensor: Any, result: Any, own: int, gap: int) -> Any:
    """The copy being made has been; the GPU's error where there is no room for it."""
    name, keywords, target = under_way.moving.now or ("", [], "cpu")
    # Of a sparse tensor each array is copied by itself.
    for source, made in zip(sparse_parts.parts(tensor), sparse_parts.parts(result)):
        with contexts.on_device(target):
            # It is known where it is also in steps that go unwatched: those that are not are others.
            known = storages.stored(made, like=(True, target, False, storages.role_of(made, True)))
        array = (*operands.described(made), known.id if known is not None else 0)
        if (refused := gpu_memory.room()) is not None:
            return refused
        if made.numel() == 0:
            continue
        known = storages.known_storage(source) if sampler.unseen() else storages.stored(source, False)
        before = (*array[:4], known.id if known is not None else 0)
        if target == "cpu":
            reads[frames.place()] = True
        with contexts.on_device():
            inputs, outputs = ([], [array]) if target != "cpu" else ([before], [])
            recorder.op(name, inputs, outputs, keywords, contexts.context(), own, gap, True)
        own = gap = 0
    return None


def copied(args: tuple[Any, ...], own: int, gap: int) -> Any:
    """`a.copy_(b)` across the link, or the error of a GPU that would not do it now. That is told each time: what
    follows the last step of a loop is no step's."""
    into_gpu = where(args[0]) != "cpu"
    there, here = args[:2] if into_gpu else args[1::-1]
    asynchronous = len(args) > 2 and bool(args[2])
    known = storages.known_storage(here)
    pinned = known is not None and known.pinned
    if (refused := graphs.copy_refused(pinned, asynchronous)) is not None:
        return refused
    known = storages.known_storage(there) if sampler.unseen() else storages.stored(there, False)
    array = (*operands.described(there), known.id if known is not None else 0)
    array = real_gpu.across(array, here, args[0], asynchronous)
    with contexts.on_device(GPU):
        name, sides = (recorder.TO_DEVICE, ([], [array])) if into_gpu else (recorder.TO_HOST, ([array], []))
        keywords = [("pinned", str(pinned)), ("asynchronous", str(asynchronous))]
        recorder.op(name, *sides, keywords, contexts.context(), own, gap, True)
    return None
