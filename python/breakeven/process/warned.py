"""Warnings that compiled code gives while a function of ours runs: they name the innermost line of Python, which
without us would be the script's."""

from __future__ import annotations

import sys
import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_OURS = __name__.partition(".")[0] + "."


def name_the_script() -> None:
    """From now on such a warning is given again as the line's that called us, whose filters and memory of what has
    been said it meets there."""
    module: Any = warnings
    plain = module._showwarnmsg
    if getattr(plain, "__module__", "") == __name__:
        return

    def shown(message: Any) -> None:
        frame: Any = sys._getframe(1)
        while frame is not None and (frame.f_lineno, frame.f_code.co_filename) != (message.lineno, message.filename):
            frame = frame.f_back
        if frame is None or not _is_ours(frame):
            plain(message)
            return
        # Whether it has been said is known of the script's lines: ours are to remember nothing.
        frame.f_globals["__warningregistry__"] = None
        while _is_ours(frame) and frame.f_back is not None:
            frame = frame.f_back
        where = frame.f_code.co_filename, frame.f_lineno, frame.f_globals.get("__name__")
        registry = frame.f_globals.setdefault("__warningregistry__", {})
        warnings.warn_explicit(message.message, message.category, *where, registry, source=message.source)

    module._showwarnmsg = shown


def _is_ours(frame: Any) -> bool:
    return str(frame.f_globals.get("__name__")).startswith(_OURS)
