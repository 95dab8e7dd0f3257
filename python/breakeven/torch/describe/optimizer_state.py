"""Optimizers that have stepped, and the tensors that they keep."""

from __future__ import annotations

import gc
import weakref

from ... import _native
from ..session import STATE, session
from . import called_modules, likes, storages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    #: The one that has made its step last, or is making it.
    stepping: weakref.ref[Any] | None = None


state = State()


#: For how many parameters an optimizer had a state when it last made its step.
states: dict[weakref.ref[Any], int] = {}


@_native.StepHook
def know_states(optimizer: Any) -> None:
    """What an optimizer keeps is its state."""
    for state in optimizer.state.values():
        # Some keep lists, as of the steps that they have made.
        for value in storages.flat(list(state.values()) if isinstance(state, dict) else ()):
            if value.dim() > 0:
                storages.assign(value, STATE)


def stepping() -> Any:
    """The optimizer that has made its step last, or is making it; None where the script is done with it."""
    return state.stepping() if state.stepping is not None else None


def no_room() -> None:
    """Memory has run out: a step that an optimizer is making ends here, and modules that are being built are not
    called."""
    _know_built()
    optimizer = stepping() if session.phase == "optimizer" else None
    if optimizer is not None:
        know_states(optimizer)


def _know_built() -> None:
    """What modules have is parameters, though they may not have been called so far."""
    module = session.torch.nn.Module
    for one in gc.get_objects():
        # The module's own beginnings come before it has any; asked without code of the script's.
        if issubclass(type(one), module) and "_buffers" in object.__getattribute__(one, "__dict__"):
            called_modules.know_parameters(one)


def know_counts(optimizer: Any) -> None:
    """Of what an optimizer has begun unwatched: its counts of steps are numbers of the host, where it does not say
    otherwise."""
    for group in optimizer.param_groups:
        if not (group.get("capturable") or group.get("fused")):
            for state in map(optimizer.state.get, group["params"]):
                for name in ("step", "mu_product") if isinstance(state, dict) else ():
                    if hasattr(value := state.get(name), "untyped_storage"):
                        storages.stored(value, False, likes.OF_HOST)
