"""Stand-ins that pass for the functions that they stand for, wherever programs look."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    StandIn = TypeVar("StandIn")

_KEYS = ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__")


def like(stand_in: StandIn, function: Any) -> StandIn:
    """The stand-in, with what the function says of itself."""
    for key in _KEYS:
        if hasattr(function, key):
            stand_in.__dict__[key] = getattr(function, key)
    return stand_in


def wrapping(stand_in: StandIn, function: Any) -> StandIn:
    """The same, and its source is found by it."""
    like(stand_in, function)
    stand_in.__dict__["__wrapped__"] = function
    return stand_in
