"""The device of a tensor under `--pretend-gpu`: the mark on its storage or, after steps that were not traced, what
is known of such tensors."""

from __future__ import annotations

from ... import _native
from .. import frames
from ..describe import called_modules, likes, storages
from ..session import GPU, RANKS, session
from ..steps import sampler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    #: How often it is told where tensors really are.
    really = 0


state = State()

#: Device of the last tensor at each instruction of the script or its libraries.
_places: dict[tuple[Any, int, int], str] = {}
#: Instructions at which there were tensors on the host and on the GPU.
_mixed: set[tuple[Any, int, int]] = set()


def stand_in_abstract(torch: Any) -> None:
    """Tensors without values that PyTorch itself makes (`torch.export`, what `--fake` has to compute) are the CPU's:
    autograd would ask the driver for streams of a GPU's, and end the process."""
    converter = torch._subclasses.fake_tensor.FakeTensorConverter
    plain = converter.from_real_tensor

    def from_real_tensor(*args: Any, **kwargs: Any) -> Any:
        state.really += 1
        _native.mode_on()
        try:
            return plain(*args, **kwargs)
        finally:
            state.really -= 1

    converter.from_real_tensor = from_real_tensor


def where(tensor: Any) -> str:
    """The device of a tensor: `cpu` or the imitated GPU."""
    return _where(tensor, storages.known_storage(tensor))


def _where(tensor: Any, known: storages.Stored | None) -> str:
    if known is None and session.imitated is not None and (made := where_made(tensor)) is not None:
        return made
    return (known.device if known is not None else None) or "cpu"


def is_known(tensor: Any) -> bool:
    """Whether a step that was watched made or used it, and anything has told where it is."""
    return _is_settled(storages.known_storage(tensor))


def _is_settled(known: storages.Stored | None) -> bool:
    return known is not None and not known.adrift


def where_made(tensor: Any) -> str | None:
    """The device of what was made in a step that nobody watched, as far as it is known."""
    if tensor.requires_grad and not tensor.is_leaf:
        return called_modules.where()
    like = likes.of_tensor(tensor)
    return like[1] if like is not None else None


def asked(tensor: Any, argument: int = 0) -> str:
    """Device of `tensor`, `cpu` or the GPU, as the running line sees it. If the tensor comes from a step that was
    not traced, the device last seen at this bytecode instruction for this `argument`, unless both devices were seen
    there."""
    known = storages.known_storage(tensor)
    if session.imitated is None or _native.is_mode_off() and _is_settled(known):
        return _where(tensor, known)
    frame = frames.caller()
    at = (frame.f_code, frame.f_lasti, argument)
    if sampler.state.unwatched and not _is_settled(known):
        if at in _places and at not in _mixed:
            return _places[at]
        left = likes.left(tensor) if sampler.unseen() else None
        return where_made(tensor) or _places.get(at) or (left[1] if left is not None else None) or where(tensor)
    device = _where(tensor, known)
    if _places.get(at, device) != device:
        _mixed.add(at)
    _places[at] = device
    return device


def told_device(args: tuple[Any, ...], _: Any) -> Any:
    real = session.torch._C.TensorBase.device.__get__(args[0])
    return session.torch.device(asked(args[0])) if real.type == "cpu" and not state.really else real


def told_is_cpu(args: tuple[Any, ...], _: Any) -> bool:
    return bool(session.torch._C.TensorBase.is_cpu.__get__(args[0])) and (state.really > 0 or asked(args[0]) == "cpu")


def named(device: Any) -> str | None:
    """`cpu` or the imitated GPU for whatever names a device; None for what names none, or one that is not imitated."""
    if device is None:
        return None
    if isinstance(device, int) and not isinstance(device, bool):
        device = f"cuda:{device}"
    text = str(device)
    if text == "cpu":
        return "cpu"
    if text.startswith("cuda") and session.imitated is not None:
        if session.on_asking is not None:
            session.on_asking()
        index = text.partition(":")[2]
        if index and (not index.isdecimal() or int(index) >= RANKS):
            raise RuntimeError("CUDA error: invalid device ordinal")
        return GPU
    return None
