"""Calls on Polars' frames and series: on the CPU, whatever the GPU engine could do of a lazy query."""

from __future__ import annotations

from .. import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HOST = {"facts": '{"verb": "host"}'}


def ended(token: int, args: tuple[Any, ...], kwargs: dict[str, Any] | None, result: Any) -> None:
    """A call has gone well: time on the host."""
    _native.leave(token, (), None, _HOST)
