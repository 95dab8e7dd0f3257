"""`torch.cuda.FloatTensor` and its kin, by which scripts of former years make tensors on a GPU, as classes of one
that is imitated."""

from __future__ import annotations

from ..session import GPU, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def install(torch: Any) -> None:
    """Replace the classes, and what sets one as the default."""
    for name, plain in list(vars(torch.cuda).items()):
        if name.endswith("Tensor") and (dtype := getattr(plain, "dtype", None)) is not None:
            told = {"__module__": "torch.cuda", "dtype": dtype, "is_cuda": True, "is_sparse": False}
            setattr(torch.cuda, name, tensortype(name, (), told))
    tensortype.__module__ = "torch"
    plain_default = torch.set_default_tensor_type

    def set_default_tensor_type(t: Any) -> None:
        name = class_name(t)
        plain_default(name.replace("torch.cuda.", "torch."))
        torch.set_default_device(GPU if name.startswith("torch.cuda.") else None)

    torch.set_default_tensor_type = set_default_tensor_type


def class_name(named: Any) -> str:
    """The name of a tensor's class, given by itself or by its name."""
    return named if isinstance(named, str) else f"{named.__module__}.{named.__name__}"


class tensortype(type):
    """The class of those classes."""

    dtype: Any

    def __call__(cls, *args: Any, device: Any = None) -> Any:
        torch = session.torch
        kind = torch.device(device or "cuda").type
        if kind != "cuda":
            raise RuntimeError(f"legacy constructor expects device type: cuda but device type: {kind} was passed")
        first = args[0] if args else 0
        if isinstance(first, torch.Tensor):
            if not isinstance(first, cls):
                raise TypeError(f"expected {class_name(cls)} (got {first.type()})")
            return first.detach()
        if isinstance(first, (int, torch.Size)):
            return torch.empty(*(args or (0,)), dtype=cls.dtype, device="cuda")
        return torch.tensor(first, dtype=cls.dtype, device="cuda")

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, session.torch.Tensor) and value.is_cuda and value.dtype == cls.dtype
