"""What a recording of JAX is in the middle of, in one object."""

from __future__ import annotations

from .. import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Session:
    """Whether what runs is the script's, and what has been told of it."""

    def __init__(self) -> None:
        #: Calls of compiled functions are told from now on.
        self.on = False
        #: Something of ours runs in JAX: none of the script's.
        self.own = False
        #: The test of the hooks has been made.
        self.tested = False
        #: The device that arrays would be on.
        self.tag = 0
        #: JAX's own method that waits for an array.
        self.waits: Callable[[Any], object] | None = None
        #: Functions that were seen being lowered, ours among them.
        self.noticed = 0
        #: How often functions were compiled, by name.
        self.compiled: dict[str, int] = {}
        #: Reasons that have been told.
        self.said: set[str] = set()

    def is_script(self) -> bool:
        """Whether what runs now is to be told of."""
        return self.on and not self.own and _native.recording()

    def say(self, reason: str, text: str, ns: int = 0) -> None:
        """Something was not seen as it should be; equal sentences without a time are told once."""
        if ns == 0 and text in self.said:
            return
        self.said.add(text)
        _native.unseen(reason, text, ns)


session = Session()


class own_work:
    """While this is entered JAX works for us."""

    def __enter__(self) -> None:
        self.before, session.own = session.own, True

    def __exit__(self, *_: object) -> None:
        session.own = self.before
