"""The code that runs: its frame but for ours, its variables, its place, the script's line."""

from __future__ import annotations

import dis
import functools
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: Of code whose variables are no dictionary; what may look at those of a function; by how many a dictionary is held
#: that is the frame's, a variable's and being asked.
_OPTIMIZED = 1
_LOOKS = frozenset(("locals", "vars", "dir", "exec", "eval"))
_OF_FRAME = 3
#: From one instruction of a call to the other, in bytes, and what is known of instructions.
_TO_CALL = 4
_calls: dict[tuple[Any, int], tuple[Any, int]] = {}
#: The variables of our modules that were met, by identity: they live as long as Python does.
_own: set[int] = set()


def caller() -> Any:
    """The frame that runs, but for ours."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        variables = frame.f_globals
        if id(variables) not in _own:
            if not variables.get("__name__", "").startswith("breakeven."):
                break
            _own.add(id(variables))
        frame = frame.f_back
    return frame


def variables(frame: Any) -> Mapping[str, Any]:
    """The local variables of a frame, which does not keep them for that; `...` where nothing may be asked. Before
    CPython 3.13 a function's frame keeps what it is asked for: what the script deletes would live on, and what it or
    a debugger looks at would change."""
    code = frame.f_code
    if sys.version_info >= (3, 13) or not code.co_flags & _OPTIMIZED:
        return frame.f_locals  # type: ignore[no-any-return]
    if sys.gettrace() is not None or not _LOOKS.isdisjoint(code.co_names) and _looks(code):
        return dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars), ...)
    kept = frame.f_locals
    found = dict(kept)
    if sys.getrefcount(kept) <= _OF_FRAME:
        kept.clear()
    return found


@functools.cache
def _looks(code: Any) -> bool:
    """Whether code calls one of `_LOOKS`, and not a method of that name, as networks have an `eval`."""
    return any(
        step.argval in _LOOKS and step.opname in ("LOAD_GLOBAL", "LOAD_NAME") for step in dis.get_instructions(code)
    )


def place() -> tuple[Any, int]:
    """The instruction that runs, but for ours."""
    return at(caller())


def at(frame: Any) -> tuple[Any, int]:
    """The instruction that a frame is at; of a call, which CPython 3.11 makes by two until it knows the callee, the
    second."""
    here = frame.f_code, frame.f_lasti
    found = _calls.get(here)
    if found is None:
        first = dis.opname[here[0].co_code[here[1]]] == "PRECALL"
        found = _calls[here] = here[0], here[1] + _TO_CALL * first
    return found


def script_line() -> str:
    """The script's line."""
    frame = beyond(("site-packages", "breakeven"))
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def beyond(parts: tuple[str, ...]) -> Any:
    """The innermost frame of a file whose path has none of these parts."""
    frame = sys._getframe(1)
    while frame.f_back is not None and any(part in frame.f_code.co_filename for part in parts):
        frame = frame.f_back
    return frame
