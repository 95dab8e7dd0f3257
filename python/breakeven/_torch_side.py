"""Which side a tensor is on where a GPU is imitated: a mark on its storage, or what is known of steps that go unwatched."""

from __future__ import annotations

from . import _native, _torch_modules, _torch_ops, _torch_steps, _torch_unwatched
from ._torch_ops import GPU

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

lib: Any = None
#: The GPU's figures; None where there are no values and no GPU either.
gpu: Any = None
#: What is to be done first where this process asks for the GPU: there is none for some that a script begins.
on_asking: Any = None
#: Device of the last tensor at each instruction of the script or its libraries.
_places: dict[tuple[Any, int, int], str] = {}
#: Instructions at which there were tensors on the host and on the GPU.
_mixed: set[tuple[Any, int, int]] = set()
#: How often it is told where tensors really are.
_really = 0


def stand_in_abstract(torch: Any) -> None:
    """Tensors without values that PyTorch itself makes (`torch.export`, what `--fake` has to compute) are the CPU's: autograd
    would ask the driver for streams of a GPU's, and end the process."""
    converter = torch._subclasses.fake_tensor.FakeTensorConverter
    plain = converter.from_real_tensor

    def from_real_tensor(*args: Any, **kwargs: Any) -> Any:
        global _really
        _really += 1
        _native.mode_on()
        try:
            return plain(*args, **kwargs)
        finally:
            _really -= 1

    converter.from_real_tensor = from_real_tensor


def where(tensor: Any) -> str:
    """The device of a tensor: `cpu` or the imitated GPU."""
    return _where(tensor, _torch_ops._known(tensor))


def _where(tensor: Any, known: _torch_ops.Stored | None) -> str:
    if known is None and gpu is not None and (made := where_made(tensor)) is not None:
        return made
    return (known.device if known is not None else None) or "cpu"


def is_known(tensor: Any) -> bool:
    """Whether a step that was watched made or used it, and anything has told where it is."""
    return _is_settled(_torch_ops._known(tensor))


def _is_settled(known: _torch_ops.Stored | None) -> bool:
    return known is not None and not known.adrift


def where_made(tensor: Any) -> str | None:
    """The device of what was made in a step that nobody watched, as far as it is known."""
    if tensor.requires_grad and not tensor.is_leaf:
        return _torch_modules.where()
    like = _torch_unwatched.of_tensor(tensor)
    return like[1] if like is not None else None


def asked(tensor: Any, argument: int = 0) -> str:
    """As `where`, for what the script does at this place, with the tensor as this `argument`. What was made in a step that
    nobody watched is where the tensors were that came this way while somebody did."""
    known = _torch_ops._known(tensor)
    if gpu is None or _native.is_mode_off() and _is_settled(known):
        return _where(tensor, known)
    frame = _torch_ops.caller()
    at = (frame.f_code, frame.f_lasti, argument)
    if _torch_steps.unwatched and not _is_settled(known):
        if at in _places and at not in _mixed:
            return _places[at]
        left = _torch_unwatched.left(tensor) if _torch_steps.unseen() else None
        return where_made(tensor) or _places.get(at) or (left[1] if left is not None else None) or where(tensor)
    device = _where(tensor, known)
    if _places.get(at, device) != device:
        _mixed.add(at)
    _places[at] = device
    return device


def told_device(args: tuple[Any, ...], _: Any) -> Any:
    real = lib._C.TensorBase.device.__get__(args[0])
    return lib.device(asked(args[0])) if real.type == "cpu" and not _really else real


def told_is_cpu(args: tuple[Any, ...], _: Any) -> bool:
    return bool(lib._C.TensorBase.is_cpu.__get__(args[0])) and (_really > 0 or asked(args[0]) == "cpu")


def named(device: Any) -> str | None:
    """`cpu` or the imitated GPU for whatever names a device; None for what names none, or one that is not imitated."""
    if device is None:
        return None
    if isinstance(device, int) and not isinstance(device, bool):
        device = f"cuda:{device}"
    text = str(device)
    if text == "cpu":
        return "cpu"
    if text.startswith("cuda") and gpu is not None:
        if on_asking is not None:
            on_asking()
        index = text.partition(":")[2]
        if index and (not index.isdecimal() or int(index) >= _torch_ops.RANKS):
            raise RuntimeError("CUDA error: invalid device ordinal")
        return GPU
    return None
