"""Children that start as Python without what would record them: counted, so that the report can say so.

A child is recorded by the `.pth` line of the installed package, told where by the environment. `-S` leaves the line
out; `-I` and `-s` do where the package lies in the user's own folder; an environment without ours says nothing.
"""

from __future__ import annotations

import os
import sys

from .. import _native
from . import imports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    #: A program is being started: what forks for that becomes it at once.
    starting = False


state = State()


_DIRECTORY = "BREAKEVEN_RECORD_DIR"


def watch() -> None:
    """Look at what is started from now on; what replaces this very process is told by `replaced`."""
    for name in ("posix_spawn", "posix_spawnp"):
        if hasattr(os, name):
            _stand_in(sys.modules[getattr(os, name).__module__], name, os)
    imports.after("subprocess", _subprocess)


def replaced(arguments: tuple[Any, ...]) -> None:
    """`os.execv` and `os.execve` were called with these arguments; so are the others."""
    if len(arguments) > 1:
        _note(arguments[0], arguments[1], arguments[2] if len(arguments) > 2 else None)


def _subprocess(module: str) -> None:
    _stand_in(sys.modules["_posixsubprocess"], "fork_exec", None)
    imported: Any = sys.modules[module]
    if hasattr(imported, "_fork_exec"):
        imported._fork_exec = sys.modules["_posixsubprocess"].fork_exec


def _stand_in(module: Any, name: str, exported: Any) -> None:
    plain = getattr(module, name)
    before, after = (_spawned, _nothing) if exported else (_forked, _started)
    stand_in = _native.Named(plain, name, before, after, True)
    stand_in.__dict__.update(__module__=module.__name__, __name__=name, __qualname__=name)
    setattr(module, name, stand_in)
    if exported:
        setattr(exported, name, stand_in)


def _spawned(_: str, arguments: tuple[Any, ...]) -> None:
    replaced(arguments)


def _forked(_: str, arguments: tuple[Any, ...]) -> None:
    state.starting = True
    words, executables, environment = arguments[0], arguments[1], arguments[5]
    _note(executables[0], words, environment)


def _started(*_: object) -> None:
    state.starting = False


def _note(executable: Any, words: Any, environment: Any) -> None:
    if _is_python(executable) and (why := _why(list(map(os.fsdecode, words)), environment)):
        _native.unseen("child-not-recorded", f"a child process was not recorded: Python was started {why}")


def _is_python(executable: Any) -> bool:
    name = os.path.basename(os.fsdecode(executable))
    return name.startswith("python") and not name[len("python") :].strip("0123456789.")


def _why(words: list[str], environment: Any) -> str | None:
    """Why this start of Python is not recorded; None where it is."""
    options = _options(words)
    if "S" in options:
        return "with -S"
    if found := options & {"I", "s"}:
        folder = getattr(sys.modules.get("site"), "USER_SITE", None)
        if folder and os.path.realpath(__file__).startswith(os.path.realpath(folder) + os.sep):
            return f"with -{min(found)}, and breakeven is installed for this user alone"
    if environment is not None:
        names = (os.fsdecode(entry).partition("=")[0] for entry in environment)
        if _DIRECTORY not in names:
            return f"with an environment of its own, without {_DIRECTORY}"
    return None


def _options(words: list[str]) -> set[str]:
    """The letters of the interpreter's own options, up to `-c`, `-m` or the script."""
    letters: set[str] = set()
    rest = iter(words[1:])
    for word in rest:
        if not word.startswith("-") or word in ("-", "--"):
            break
        if word.startswith("--"):
            continue
        for position, letter in enumerate(word[1:], 1):
            if letter in "cm":
                return letters
            if letter in "WX":
                if position == len(word) - 1:
                    next(rest, None)
                break
            letters.add(letter)
    return letters


def _nothing(*_: object) -> None:
    pass
