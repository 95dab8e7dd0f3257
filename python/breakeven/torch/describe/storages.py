"""The storages that live: what each is for, how large it is, where it is."""

from __future__ import annotations

import weakref

from ... import _native
from .. import memory_left
from ..session import (
    ACTIVATION,
    GRADIENT,
    INPUT,
    PARAMETER,
    REFUSED,
    TEMPORARY,
    makes_on_host,
    makes_there,
    no_gpu,
    session,
)
from . import likes, sparse_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Stored(weakref.ref):  # type: ignore[type-arg]
    """A living storage."""

    __slots__ = (
        "adrift", "aside", "back", "bytes", "device", "id", "key", "pinned", "placed", "put", "put_by", "reduced",
        "role"
    )  # fmt: skip

    id: int
    key: int
    bytes: int
    role: int
    #: It was computed on the device of a script without a GPU.
    placed: bool
    #: It was made on the host and never on that device; see `no_gpu/placement.py`.
    aside: bool
    #: Tensors in it that were put there, and the lines that did so; see `no_gpu/placement.py`.
    put: list[Any]
    put_by: set[Any]
    #: The host was given a copy of it: whether that has taken its place, and which version of the values it is.
    back: bool | None
    device: str | None
    #: Nothing has told so far which device it is on: it counts as the host's.
    adrift: bool
    pinned: bool
    #: A single value that was computed from arrays, or from other such values.
    reduced: bool


alive: dict[int, Stored] = {}


_died = _native.Dies(alive)


def stored(tensor: Any, made: bool = True, like: likes.Like | None = None) -> Stored | None:
    """The storage of a tensor; `made` says that an op gives it out now, else the host must have filled it, or a step
    that nobody watched made it. One that was not known is as `like`, which is of no step's making."""
    if type(tensor) not in session.plain:
        if _is_fake(tensor):
            return None
        if wrapped := _wrapped(tensor):
            return [stored(part, made, like) for part in wrapped][0]
    try:
        storage = tensor.untyped_storage()
        key, size = storage._cdata, storage.nbytes()
    except REFUSED:  # sparse, opaque: there is none
        inner = _within_transform(tensor)
        return stored(inner, made) if inner is not None else None
    known = alive.get(key)
    if known is None:
        if tensor._is_zerotensor() or _is_meta(tensor):
            return None  # a tangent that is known to be zero, or a shape alone: its storage has no memory
        if like is not None:
            known = _live_like(storage, like)
        else:
            kind = size, tensor.dtype
            like = None if made else likes.of_kind(kind)
            # What autograd knows how it came about, or has kept, was made by an op, though nobody may have seen it.
            missed = _was_missed(storage)
            made = made or missed or session.phase == "backward" or (tensor.requires_grad and not tensor.is_leaf)
            known = live(storage, role_of(tensor, made), made) if like is None else _live_like(storage, like)
            likes.made(kind, known, made, session.phase == "data")
        if not session.valueless and (session.gpu is None or known.device == "cpu"):
            memory_left.made(size)
    elif known.bytes != size:
        known.bytes = size
        _native.storage_resized(known.id, size)
    if session.gpu is not None and known.device not in (None, "cpu"):
        session.there = known.device
    return known


def is_missed(tensor: Any) -> bool:
    """Whether an op made the storage of a tensor before others were seen that steps do not do."""
    missed = likes.missed
    return bool(missed) and not _is_fake(tensor) and tensor.untyped_storage().data_ptr() in missed


def _was_missed(storage: Any) -> bool:
    """The same of a storage, of which that is told once."""
    missed = likes.missed
    if not missed or (address := storage.data_ptr()) not in missed:
        return False
    missed.discard(address)
    return True


def filled(args: Any) -> None:
    """An op of `FILLING` was given this: what the host has just filled is known as such."""
    if len(args) == 1:
        new = known_storage(args[0]) is None
        known = stored(args[0], False, likes.OF_HOST)
        if new and known is not None:
            # Others of its kind may be made elsewhere in the same step.
            likes.made((known.bytes, args[0].dtype), known, False, session.phase == "data")
    elif isinstance(args[1], session.torch.UntypedStorage) and args[1]._cdata not in alive:
        live(args[1], INPUT, False, aside=False)  # a copy of another's, or a file's: it may be anywhere


def live(
    storage: Any, role: int, made: bool, place: str | None = None, counted: bool = True, aside: bool | None = None
) -> Stored:
    """A storage that nobody knew so far; `place`: the device that it is on, where that is not the present one; not
    `counted`: no memory of a GPU's, so far; `aside`: whether a script without a GPU has it on the host, where it is
    known."""
    known = Stored(storage, _died)
    known.key, known.bytes, known.role = storage._cdata, storage.nbytes(), role
    known.pinned = known.reduced = known.adrift = False
    known.put, known.put_by, known.back = [], set(), None
    known.device = place or ((session.device if made else "cpu") if session.device is not None else _really_on(storage))
    known.aside, known.placed = makes_on_host(made) if aside is None else aside, makes_there(made)
    on_host = known.device == "cpu" or (known.aside and no_gpu.aware)
    # What a graph's replay makes is in memory that the graph has for itself.
    size = known.bytes if counted and session.graph != "node" else 0
    known.id = _native.storage_new(size, role, on_host, made and not no_gpu.filling)
    alive[known.key] = known
    return known


def _live_like(storage: Any, like: likes.Like) -> Stored:
    """One that was made where nobody watched."""
    made, place, placed, role = like
    if session.device is not None:
        known = live(storage, role, made, place)
    else:
        known = live(storage, role, made, aside=no_gpu.tells and place == "cpu")
    known.placed = placed
    return known


def _really_on(storage: Any) -> str | None:
    """The real GPU that a storage is on; where there is one, `cpu` for others."""
    place = storage.device
    if place.type not in session.gpu_kinds:
        return "cpu" if session.gpu is not None else None
    name = str(place)
    if session.gpu is None:
        session.gpu = name
        session.on_first_gpu(session.torch, place)
    return name


def on_gpu(tensor: Any) -> str | None:
    """The real GPU that a tensor is on."""
    return str(tensor.device) if session.gpu is not None and tensor.device.type in session.gpu_kinds else None


def hand_over(tensor: Any, heir: Any) -> None:
    """What the storage of `tensor` was to the recorder, that of `heir` is from now on."""
    before, storage = stored(tensor, False), heir.untyped_storage()
    if before is not None:
        known = Stored(storage, _died)
        known.key, known.id, before.id = storage._cdata, before.id, 0
        known.bytes, known.role, known.placed = before.bytes, before.role, before.placed
        known.put, known.put_by, known.aside, known.back = before.put, before.put_by, before.aside, before.back
        known.pinned, known.device, known.reduced = before.pinned, before.device, before.reduced
        known.adrift = before.adrift
        alive[known.key] = known


def role_of(tensor: Any, made: bool, computed: bool = False) -> int:
    """What a new storage is for; `computed` says that it comes of a network's values."""
    if isinstance(tensor, session.torch.nn.Parameter):
        return PARAMETER
    if not made:
        return INPUT
    if session.path and session.phase != "backward":
        return ACTIVATION  # also in what an optimizer asks to be computed again
    backwards = session.phase in ("backward", "optimizer")
    if computed and not backwards:
        return ACTIVATION
    return (
        _role_of_result(*session.gives, backwards) if session.gives is not None else TEMPORARY if backwards else INPUT
    )


def _role_of_result(op: Any, given: dict[str, Any], backwards: bool) -> int:
    """The same of what an op gives outside of modules: what needs a gradient, what products give and what comes of
    either are activations; data that is only prepared stays input."""
    graph = not op.makes and session.torch.is_grad_enabled()
    if backwards and not graph:
        return TEMPORARY
    tensors = list(flat(list(given.values())))
    if graph and any(tensor.requires_grad for tensor in tensors):
        return ACTIVATION
    if backwards:
        return TEMPORARY
    if session.phase == "data":
        return INPUT
    roles = {known.role for tensor in tensors if (known := known_storage(tensor)) is not None}
    if op.product or ACTIVATION in roles:
        return ACTIVATION
    return INPUT if roles.isdisjoint((GRADIENT, TEMPORARY)) else TEMPORARY


def assign(tensor: Any, role: int, made: bool = True) -> None:
    """This tensor's memory is for `role`."""
    for part in sparse_parts.parts(tensor):
        known = stored(part, made)
        if known is not None and known.role != role and known.role != PARAMETER:
            known.role = role
            _native.storage_role(known.id, role)


def is_nowhere(result: Any) -> bool:
    """Whether an op has computed nothing, for tensors that have a shape alone."""
    first = result[0] if result.__class__ in (list, tuple) and result else result
    return isinstance(first, session.torch.Tensor) and (
        _is_meta(first) or (type(first) not in session.plain and _is_fake(first))
    )


def _is_meta(tensor: Any) -> bool:
    """Whether a tensor was made on "meta", where those are in truth that have no values for our sake."""
    if not session.valueless:
        return tensor.is_meta  # type: ignore[no-any-return]
    return getattr(getattr(tensor, "fake_device", None), "type", None) == "meta"


def _is_fake(tensor: Any) -> bool:
    """Whether a tensor is of a `FakeTensorMode` of the script's, while those that it works with have values."""
    return not session.valueless and hasattr(tensor, "fake_mode")


def flat(value: Any) -> Any:
    """Tensors in a value and in lists within it."""
    if isinstance(value, session.torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from flat(part)


def _wrapped(tensor: Any) -> list[Any]:
    """The tensors that one of a class of the script's own, which does their ops, is made of; it has no memory
    itself."""
    if type(tensor).__torch_dispatch__ is session.torch._C._disabled_torch_dispatch_impl:
        return []
    flatten = getattr(type(tensor), "__tensor_flatten__", None)
    parts = [getattr(tensor, name) for name in flatten(tensor)[0]] if flatten is not None else vars(tensor).values()
    return [part for part in parts if isinstance(part, session.torch.Tensor)]


def known_storage(value: Any) -> Stored | None:
    if type(value) not in session.plain:
        if not isinstance(value, session.torch.Tensor) or _is_fake(value):
            return None
        if wrapped := _wrapped(value):
            return known_storage(wrapped[0])
    try:
        return alive.get(value.untyped_storage()._cdata)
    except ValueError:  # a parameter that has no shape yet answers nothing
        with session.torch._C.DisableTorchFunctionSubclass():
            return alive.get(value.untyped_storage()._cdata)
    except REFUSED:
        *_, values = sparse_parts.parts(value)
        return known_storage(values if values is not value else _within_transform(value))


def _within_transform(tensor: Any) -> Any:
    """What `vmap`, `grad` and their kin wrap while they go through a function."""
    core = session.torch._C._functorch
    return core.get_unwrapped(tensor) if core.is_functorch_wrapped_tensor(tensor) else None
