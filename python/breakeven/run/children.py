"""Arms a process that the environment asks to record; imported by the one line of `breakeven.pth`.

Children of a recorded script inherit `BREAKEVEN_RECORD_DIR`, so whichever way they were started (`subprocess`,
`multiprocessing`, `os.system`) the interpreter reads the `.pth` file at its start and comes here. The same line arms
the script itself: `breakeven._run` replaces itself by `python SCRIPT`, which is then run by nobody but Python.
"""

from __future__ import annotations

import os
import sys

from . import process

#: A helper process of the standard library that runs no user code.
_HELPER = "multiprocessing.resource_tracker"


def _arm() -> None:
    arguments = sys.orig_argv
    if "breakeven._run" in arguments[:-1] or any(_HELPER in word for word in arguments):
        return  # the runner arms itself, or is about to give way to the script
    script = _script(arguments)
    if process.recorder() == "ast" and script is not None and process.is_source(arguments[script]):
        # The interpreter compiles the script itself; only a runner of ours can rewrite it. Same pid, same arguments.
        os.execv(sys.executable, [sys.executable, *arguments[1:script], "-m", "breakeven._run", *arguments[script:]])
    process.arm(os.environ[process.DIRECTORY])


def _script(arguments: list[str]) -> int | None:
    """Where a script path stands in the interpreter's own arguments; None for `-c`, `-m`, standard input."""
    position = 1
    while position < len(arguments):
        word = arguments[position]
        if not word.startswith("-"):
            return position
        if word in ("-", "--") or word.startswith("--") or _ends_options(word):
            return None
        position += 2 if word in ("-W", "-X") else 1
    return None


def _ends_options(word: str) -> bool:
    """Whether a cluster of short options (`-Bc`, `-um`) holds `-c` or `-m`, after which all belongs to the program."""
    for letter in word[1:]:
        if letter in "cm":
            return True
        if letter in "WX":
            return False
    return False


if process.DIRECTORY in os.environ:
    try:
        _arm()
    except Exception as error:  # a child must run whatever happens to us
        sys.stderr.write(f"breakeven: this process is not recorded: {error}\n")
