"""Putting a function of ours in the place of one of PyTorch's, so that it passes for it wherever programs look."""

from __future__ import annotations

from types import FunctionType

from .. import _native
from .session import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def stand_in(holder: Any, name: str, enter: Any, leave: Any, of_steps: bool = True) -> None:
    plain = vars(holder)[name]
    put(holder, name, _native.Named(plain, name, enter, leave, True, of_steps), plain)


def put(holder: Any, name: str, stand_in: Any, plain: Any) -> None:
    """Have this stand in for `plain`, which passes for it wherever programs look."""
    for key in ("__module__", "__name__", "__qualname__", "__doc__"):
        if hasattr(plain, key):
            stand_in.__dict__[key] = getattr(plain, key)
    if isinstance(holder, type):
        # A method of C's is no module's: it pickles as the class that has it, and its name there.
        stand_in.__dict__["__reduce__"] = lambda: (getattr, (holder, name))
    else:
        stand_in.__dict__["__reduce__"] = lambda: name
    if isinstance(plain, FunctionType) and not hasattr(plain, "__wrapped__"):
        stand_in.__dict__["__wrapped__"] = plain  # by which its source is found
    setattr(holder, name, stand_in)


def watch(holder: Any, name: str, plain: Any, enter: Any, leave: Any) -> None:
    """Tell `leave` of each call of `holder.name`."""
    put(holder, name, _native.Named(plain, name, enter, leave), plain)


def unseen_by_script(told: Any) -> Any:
    """`told`, whose questions reach no `__torch_function__` of the script's classes and modes."""

    def hidden(*given: Any) -> Any:
        with session.torch._C.DisableTorchFunction():
            return told(*given)

    return hidden
