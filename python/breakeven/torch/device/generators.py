"""Which generator of random numbers a call draws from."""

from __future__ import annotations

from ..describe import storages
from ..session import session
from ..sides.side import asked, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def place_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Where a call runs: where it says, or its tensors are, or what is made of nothing."""
    if (wanted := named(kwargs.get("device"))) is not None:
        return wanted
    first = next(storages.flat((*args, *kwargs.values())), None)
    return asked(first) if first is not None else named(session.torch.utils._device.CURRENT_DEVICE) or "cpu"


def drawing(generator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The generator of a call, which is to be where that runs; None for the GPU's own, whose state is in place."""
    if not isinstance(generator, session.torch._C.Generator):
        return generator  # PyTorch says what it expects
    kind, of = place_of(args, kwargs).partition(":")[0], generator.device.type
    if kind != of:
        raise RuntimeError(f"Expected a '{kind}' device type for generator but found '{of}'")
    return None if generator in session.torch.cuda.default_generators else generator
