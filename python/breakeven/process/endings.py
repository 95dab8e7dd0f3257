"""Ends of a process that run no exit handlers: what was seen is written just before them.

`os._exit` ends every forked worker; `os.execv` replaces the process by another; a `multiprocessing.Pool` kills its
workers by a signal once their results are in, where what they did in the last few milliseconds may be lost.
"""

from __future__ import annotations

import os
import sys

from .. import _native
from . import imports, spawns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    #: Whether this is a whole script's process.
    watching = False
    last = cost = 0.0


state = State()


def watch() -> None:
    """From now on write before such an end."""
    state.watching = True
    system = sys.modules[os._exit.__module__]  # posix
    for name in ("_exit", "execv", "execve"):
        stand_in = _native.Named(getattr(system, name), name, _write_last, _nothing, True)
        stand_in.__dict__.update(__module__=system.__name__, __name__=name, __qualname__=name)
        setattr(system, name, stand_in)
        setattr(os, name, stand_in)
    imports.after("multiprocessing.pool", _pool)
    spawns.watch()


def _pool(_: str) -> None:
    from multiprocessing.queues import SimpleQueue

    for name, before in (("put", write_sparingly), ("get", _write_if_idle)):
        plain = getattr(SimpleQueue, name)
        stand_in = _native.Named(plain, name, before, _nothing, True)
        stand_in.__dict__.update(__module__=plain.__module__, __name__=name, __qualname__=plain.__qualname__)
        setattr(SimpleQueue, name, stand_in)


def _write_last(name: str, arguments: tuple[Any, ...]) -> None:
    if name != "_exit":
        spawns.replaced(arguments)
    _native.flush()


def write_sparingly(*_: object, share: float = 1 / 3) -> None:
    """Before a worker hands over a result; at most this share of the time goes into writing."""
    began = _native.clock_ns() * 1e-9
    if (began - state.last) * share >= (1 - share) * state.cost:
        _native.flush()
        state.last = _native.clock_ns() * 1e-9
        state.cost = state.last - began


def _write_if_idle(_: str, arguments: tuple[Any, ...]) -> None:
    """Before a worker waits for its next task."""
    if not arguments[0]._reader.poll(0):
        _native.flush()


def _nothing(*_: object) -> None:
    pass
