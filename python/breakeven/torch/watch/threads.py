"""Threads that the script begins: their ops are recorded, too, and our modes are taken away before they end."""

from __future__ import annotations

import threading

from ... import _native
from .. import dispatch_mode
from ..device import function_mode
from ..no_values import valueless
from ..steps import sampler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    #: What the thread of a loader that pins memory runs.
    pinning: Any = None


state = State()

#: Of each thread of the script's.
_of_thread = threading.local()


def begin_thread(_: str, args: tuple[Any, ...]) -> None:
    # A thread that C has begun only gets its name here.
    if not _native.recording() or type(args[0]).__name__ == "_DummyThread":
        return
    function_mode.begin_thread()
    # A loader's thread that pins works beside the script, as its processes do.
    if getattr(args[0], "_target", None) is not state.pinning:
        valueless.begin_thread()
        dispatch_mode.resume()
        sampler.begin_beside()
    _of_thread.ends = _ThreadEnds(
        function_mode.end_thread, sampler.thread_ends, dispatch_mode.pause, valueless.end_thread
    )


class _ThreadEnds:
    """Takes our modes away when Python lets a thread's own variables go, before those learn of it who wait for the
    thread. Left there, they would be let go later, by C++, which ends the process where Python itself is at its end
    by then."""

    def __init__(self, *ends: Any) -> None:
        self.ends, self.asks, self.thread = ends, threading.get_ident, threading.get_ident()

    def __del__(self) -> None:
        # At the end of Python the main thread lets go what is of daemons.
        if self.asks() == self.thread:
            for end in self.ends:
                end()
