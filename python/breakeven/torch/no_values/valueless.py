"""Tensors without values, thread by thread: whether PyTorch's mode for them is in force."""

from __future__ import annotations

import threading

from ..session import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    #: PyTorch's mode that works out shapes alone.
    mode: Any = None
    lost_in_backward = False


state = State()

#: Kernels in Python that the script has registered for ops of its own, by the op's name.
kernels: dict[str, Any] = {}


class Within(threading.local):
    """What PyTorch's mode is in the middle of, as it names that: each thread for itself."""

    def __init__(self) -> None:
        self.in_kernel_invocation = False
        self.enter_stack: list[Any] = []


_within = Within()


def of_thread(name: str) -> Any:
    return property(lambda _: getattr(_within, name), lambda _, value: setattr(_within, name, value))


def begin_thread() -> None:
    """In this thread, too, tensors have no values."""
    if state.mode is not None:
        session.torch.utils._python_dispatch._push_mode(state.mode)


def end_thread() -> None:
    """As far as this thread goes, they have again."""
    if state.mode is not None and session.torch._C._get_dispatch_mode(state.mode._mode_key) is state.mode:
        session.torch._C._unset_dispatch_mode(state.mode._mode_key)
