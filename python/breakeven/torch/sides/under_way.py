"""The call and the copy that a thread is making for an imitated GPU."""

from __future__ import annotations

import threading


class _Making(threading.local):
    """The device that the call which this thread is making names."""

    device: str | None = None


making = _Making()


class _Moving(threading.local):
    """The copy that this thread is making: name of the event, keywords, device of the result."""

    now: tuple[str, list[tuple[str, str]], str] | None = None


moving = _Moving()
