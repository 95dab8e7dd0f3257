"""The function mode of an imitated GPU, in every thread and below the modes of the script."""

from __future__ import annotations

from ... import _native
from ..no_values import valueless
from ..session import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    #: What every call of PyTorch's API passes through, in each thread of its own accord; None where a process has left
    #: it.
    mode: Any = None


state = State()


def after_backward() -> None:
    """A backward pass has ended; where values were lost in it, so was the mode that was put in place then."""
    if valueless.state.lost_in_backward:
        valueless.state.lost_in_backward = False
        stand_below()


def is_on() -> bool:
    """Whether calls of this thread pass here."""
    core = session.torch._C
    return any(core._get_function_stack_at(i) is state.mode for i in range(core._len_torch_function_stack()))


def go_in(_: str) -> bool | None:
    """Calls pass here again within one that has; None where they need not."""
    if state.mode is not None and _native.is_mode_off():
        return None
    inside = state.mode is not None and not is_on()
    if inside:
        session.torch._C._push_on_torch_function_stack(state.mode)
    return inside


def come_out(inside: bool | None, *_: Any) -> None:
    """That call is over; None: in it calls began to pass."""
    if inside:
        session.torch._C._pop_torch_function_stack()
    elif inside is None and state.mode is not None and not (_native.is_mode_off() or is_on()):
        stand_below()  # backward's engine leaves the modes as it found them


def stand_below() -> None:
    """Take the place below the modes of the script in this thread."""
    core = session.torch._C
    above = [core._pop_torch_function_stack() for _ in range(core._len_torch_function_stack())]
    begin_thread()
    for one in reversed(above):
        if one is not state.mode:
            core._push_on_torch_function_stack(one)


def begin_thread() -> None:
    """In this thread, too, the GPU is there: PyTorch keeps its modes thread by thread."""
    if state.mode is not None:
        state.mode.__enter__()


def end_thread() -> None:
    """It is not there any more in what is left to do in this thread."""
    while state.mode is not None and is_on():
        session.torch._C._pop_torch_function_stack()


def leave() -> None:
    """From now on calls run as they are written, where tensors really are."""
    _native.mode_on()
    state.mode = None
    core = session.torch._C
    while core._len_torch_dispatch_stack():
        core._pop_torch_dispatch_stack(None)
    while core._len_torch_function_stack():
        core._pop_torch_function_stack()
