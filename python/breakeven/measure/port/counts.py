"""What the port did, counted by the line of the script that asked for it: copies, calls that CuPy did not take."""

from __future__ import annotations

import os
import sys
import sysconfig
from typing import Any

_PATHS = sysconfig.get_paths()
#: Code that is none of the user's.
_LIBRARIES = (
    "<",
    *(os.path.join(_PATHS[name], "") for name in ("stdlib", "platstdlib")),
    os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), ""),
)
_INSTALLED = ("/site-packages/", "/dist-packages/")
_known: dict[str, bool] = {}

Place = tuple[str, int]


class Counts:
    """Sums since the start, or since `clear`."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begin anew, for another run of the script."""
        #: Calls that ran on the device.
        self.calls = 0
        #: By direction (`h2d`, `d2h`), place and what for: how many, bytes, seconds.
        self.copies: dict[tuple[str, Place, str], list[float]] = {}
        #: By function, place and reason: how many, bytes copied for them.
        self.fallbacks: dict[tuple[str, Place, str], list[float]] = {}
        #: By place: calls, seconds; only where each call waits for the device.
        self.lines: dict[Place, list[float]] = {}

    def copied(self, direction: str, what: str, nbytes: int, seconds: float) -> None:
        """A copy between host and device."""
        _add(self.copies, (direction, place(), what), 1, nbytes, seconds)

    def fell_back(self, function: str, reason: str, nbytes: int) -> None:
        """A call that NumPy computed on the host."""
        _add(self.fallbacks, (function, place(), reason), 1, nbytes)

    def took(self, seconds: float) -> None:
        """A call that waited for the device."""
        _add(self.lines, place(), 1, seconds)

    def told(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        copies = [
            {"direction": key[0], "file": key[1][0], "line": key[1][1], "what": key[2], "count": int(sums[0]),
             "bytes": int(sums[1]), "seconds": sums[2]}
            for key, sums in self.copies.items()
        ]  # fmt: skip
        fallbacks = [
            {"function": key[0], "file": key[1][0], "line": key[1][1], "reason": key[2], "count": int(sums[0]),
             "bytes": int(sums[1])}
            for key, sums in self.fallbacks.items()
        ]  # fmt: skip
        lines = [
            {"file": key[0], "line": key[1], "calls": int(sums[0]), "seconds": sums[1]}
            for key, sums in self.lines.items()
        ]
        return {"calls": self.calls, "copies": copies, "fallbacks": fallbacks, "lines": lines}


counts = Counts()


def _add(table: dict[Any, list[float]], key: Any, *amounts: float) -> None:
    sums = table.setdefault(key, [0.0] * len(amounts))
    for at, amount in enumerate(amounts):
        sums[at] += amount


def is_users(file: str) -> bool:
    """Whether a source file is the user's own: outside Python's library, the installed packages and this one."""
    known = _known.get(file)
    if known is None:
        known = not file.startswith(_LIBRARIES) and not any(folder in file for folder in _INSTALLED)
        _known[file] = known
    return known


def place() -> Place:
    """The innermost line of the user's code that is running; no file where there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return "", 0
