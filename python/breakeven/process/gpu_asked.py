"""Tells which library a script asked for a GPU that is not there, at which line, and what the user can do.

A script that a library ends is known by the exception that nobody caught, which the interpreter keeps
(`sys.last_value`) until its exit: nothing is changed. A library that goes on, on the CPU, is known by what it is
called with.
"""

from __future__ import annotations

import os
import sys

from .. import _native
from . import imports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    from .gpu_libraries import Fallback, Refusal


#: Modules whose functions are watched once they are imported.
_WATCHED = ("xgboost.core", "tensorflow", "onnxruntime", "taichi", "spacy")
#: Those of them that are answered as if there were a GPU, with `--pretend-gpu`.
_ANSWERED = ("tensorflow",)
#: Where a GPU's driver shows: NVIDIA's, AMD's, and those of Windows within Linux.
_DRIVERS = ("/dev/nvidiactl", "/proc/driver/nvidia/version", "/dev/kfd", "/dev/dxg")
#: An exception's causes beyond so many are not looked at.
_CAUSES = 16
#: Lists within lists beyond so many are not looked into for the name of a device.
_DEPTH = 3

_LIBRARY = (
    os.path.dirname(os.__file__) + os.sep,
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,
    "<frozen ",
)
_told: set[tuple[str, str]] = set()


def watch() -> None:
    """From now on tell of libraries that run on the CPU where they are asked for a GPU."""
    for module in _WATCHED:
        imports.after(module, _watch)


def at_exit() -> None:
    """Tell what an exception, or an exit, that ended the script says of a GPU."""
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if error is not None and not isinstance(error, Exception):
        return  # Ctrl-C
    try:
        _tell(error)
    except Exception as failure:  # ours: the script has ended as it would
        _native.unseen("hook-failed", f"what ended the script was not looked at: {failure}")


def _tell(error: Exception | None) -> None:
    """Tell of the first exception, from the last raised to its causes, that a library raised for want of a GPU; of the
    script's own check of PyTorch's GPU where that ended it."""
    checks = sys.modules.get(f"{__package__}._gpu_checks")  # from PyTorch's import on
    if checks is not None and (line := checks.ended(_lines_of(error))) is not None:
        _native.unseen("no-gpu", without_gpu(line))
        return
    for cause in _causes(error):
        row = _refusal(cause)
        if row is not None:
            imitated = row.instead.startswith("--pretend-gpu")
            none = "there is none" if imitated else "it has none here, nor does breakeven imitate one for it"
            text = f"the script asks {row.library} for a GPU ({_line_of(cause)}), and {none}: {row.instead}"
            _native.unseen("no-gpu", text)
            return
    if isinstance(error, ModuleNotFoundError) and error.name:
        python = f"install it for {sys.executable}, or run breakeven from the environment that has it"
        text = f"the script imports {error.name} ({_line_of(error)}), which is not installed here: {python}"
        _native.unseen("no-module", text)


def _causes(error: BaseException | None) -> list[BaseException]:
    """The exception, and those that it was raised from or in the handling of."""
    found: list[BaseException] = []
    while error is not None and error not in found and len(found) < _CAUSES:
        found.append(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return found


def _refusal(error: BaseException) -> Refusal | None:
    """The row of the library that raised it for want of a GPU."""
    from .gpu_libraries import REFUSALS

    missing = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    try:
        text = str(error)
    except Exception:
        text = ""
    for row in REFUSALS:
        if missing and missing in row.modules:
            return row
        if any((kind in kinds or not kind) and part in text for kind, part in row.errors):
            return row
    return None


def without_gpu(line: str) -> str:
    """What is told of a PyTorch script that ended at that line; `breakeven run` makes a command of the second part."""
    return f"the script asks for a GPU ({line}), and there is none: --pretend-gpu NAME records it as if there were"


def _line_of(error: BaseException) -> str:
    """The script's line that led to it: the innermost of its traceback that is in no library."""
    return _shown(_lines_of(error))


def _lines_of(error: BaseException | None) -> list[tuple[CodeType, int]]:
    """The lines of its traceback, innermost first."""
    lines, trace = [], error.__traceback__ if error is not None else None
    while trace is not None:
        lines.append((trace.tb_frame.f_code, trace.tb_lineno))
        trace = trace.tb_next
    return lines[::-1]


def _line_now() -> str:
    """The script's line that is running."""
    frame, lines = sys._getframe(1), []
    while frame is not None:
        lines.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back  # type: ignore[assignment]
    return _shown(lines)


def _shown(lines: list[tuple[CodeType, int]]) -> str:
    """The first line, innermost first, that is of no library; the outermost where all are."""
    own = [(code, line) for code, line in lines if not is_library(code.co_filename)]
    if not own and not lines:
        return "at its start"
    code, line = own[0] if own else lines[-1]
    return f"{os.path.basename(code.co_filename)}:{line}"


def is_library(file: str) -> bool:
    """Whether code of that file is a library's: installed, of Python or ours, or compiled from Cython."""
    return (
        file.endswith((".pyx", ".pxd", ".pxi"))
        or "site-packages" in file
        or "dist-packages" in file
        or file.startswith(_LIBRARY)
    )


def _watch(module: str) -> None:
    """Put a stand-in for the function that the module is asked for a GPU by."""
    from .gpu_libraries import FALLBACKS

    if any(os.path.exists(path) for path in _DRIVERS):
        return  # it may well run there
    for row in FALLBACKS:
        if row.module == module:
            if module in _ANSWERED and os.environ.get("BREAKEVEN_PRETEND_GPU"):
                continue
            holder: Any = sys.modules[module]
            *path, name = row.name.split(".")
            for part in path:
                holder = getattr(holder, part, None)
            plain = getattr(holder, name, None)
            if plain is None:
                continue  # a version that is asked in another way
            stand_in = _native.Named(plain, name, *_told_of(row), keywords=True)
            for key in ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__"):
                stand_in.__dict__[key] = getattr(plain, key, None)
            setattr(holder, name, stand_in)


def _told_of(row: Fallback) -> tuple[Any, Any]:
    """What is done before and after a call of the row's function."""

    def before(_: str, arguments: tuple[Any, ...], words: dict[str, Any] | None) -> bool:
        given = (*arguments, *(words or {}).values())
        return not row.words or _names_gpu(given, row.words)

    def after(asked: bool, _: object, result: object, *__: object) -> None:
        # `None` is of a call that raised; it ends the script, or the script goes on by itself.
        if asked and result is not None and (row.words or result is False):
            line = _line_now()
            if (row.library, line) not in _told:
                _told.add((row.library, line))
                text = f"the script asks {row.library} for a GPU ({line}), and there is none: it ran on the CPU"
                _native.unseen("gpu-fell-back", f"{text}, and that was recorded; {row.instead}")

    return before, after


def _names_gpu(value: object, words: tuple[str, ...], depth: int = 0) -> bool:
    """Whether an argument, or an item of a list or dictionary among the arguments, has one of the words:
    `/device:GPU:0` has `gpu`, `gpu_hist` has not. Iterators are the library's to read; a constant of a library is
    its name (`Arch.cuda`)."""
    if isinstance(value, str):
        parts = "".join(c if c.isalnum() or c == "_" else " " for c in value[:256].lower()).split()
        return any(word in parts for word in words)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return depth < _DEPTH and any(_names_gpu(item, words, depth + 1) for item in value[:64])
    return type(value).__name__ == "Arch" and _names_gpu(getattr(value, "name", ""), words, depth)
