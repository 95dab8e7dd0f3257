"""Scripts that ask PyTorch whether there is a GPU and end where there is none: `assert torch.cuda.is_available()`.

Such a check is read from the script's source once PyTorch has answered that there is none. Scripts that go on, on
the CPU, have no such check, and nothing is told of them.
"""

from __future__ import annotations

import os
import sys
from collections import namedtuple

from .. import _native
from . import gpu_asked, looks

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator
    from types import CodeType
    from typing import Any


#: Functions of `torch.cuda` that say whether there is a GPU.
_ASKED = ("is_available", "device_count")
#: Functions, and an exception, that end the process with the exit code that they are given.
_EXITS = ("exit", "quit", "_exit", "SystemExit")

#: A statement that ends the script where there is no GPU. `line`: where it asks; `lines`: where it ends; `raises`:
#: whether by an exception that the interpreter shows, or else by an exit code other than 0.
Check = namedtuple("Check", "line lines raises")

#: The checks of each file whose code was told that there is no GPU.
_lacking: dict[str, list[Check]] = {}


def watch(torch: Any) -> None:
    """From now on note who is told that there is no GPU."""
    for name in _ASKED:
        plain = getattr(torch.cuda, name)
        stand_in = _native.Named(plain, f"torch.cuda.{name}", _nothing, _answered)
        setattr(torch.cuda, name, looks.like(stand_in, plain))


def ended(lines: list[tuple[CodeType, int]]) -> str | None:
    """The check that ended the script, as `train.py:5`: the one at these lines of an exception's traceback, or the
    first that exits where there was no exception. `None` where no check can have."""
    for file, checks in _lacking.items():
        here = [line for code, line in lines if code.co_filename == file]
        for check in checks:
            if any(line in check.lines for line in here) if check.raises else not lines:
                return f"{os.path.basename(file)}:{check.line}"
    return None


def _answered(_: object, __: object, answer: object, *___: object) -> None:
    """PyTorch has answered the line that is running; `None`: by an exception."""
    file = sys._getframe(1).f_code.co_filename
    if answer is not None and not answer and file not in _lacking and not gpu_asked.is_library(file):
        _lacking[file] = list(_checks(file))


def _checks(path: str) -> Iterator[Check]:
    import ast
    import tokenize

    try:
        with tokenize.open(path) as file:
            nodes = list(ast.walk(ast.parse(file.read())))
    except (OSError, SyntaxError, ValueError):
        return
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and _asks(node.value, names):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
    for node in nodes:
        if isinstance(node, ast.Assert) and _asks(node.test, names):
            yield Check(node.lineno, _lines(node), True)
        elif isinstance(node, ast.If) and _asks(node.test, names):
            for step in (*node.body, *node.orelse):
                raises = _raises(step)
                if raises is not None:
                    yield Check(node.lineno, _lines(step), raises)


def _lines(step: ast.stmt) -> range:
    return range(step.lineno, (step.end_lineno or step.lineno) + 1)


def _asks(test: ast.expr, names: set[str]) -> bool:
    """Whether an expression asks PyTorch for a GPU, or has a variable that holds the answer."""
    import ast

    for node in ast.walk(test):
        if isinstance(node, ast.Call) and _name(node.func) in _ASKED:
            return True
        if isinstance(node, ast.Name) and node.id in names:
            return True
    return False


def _raises(step: ast.stmt) -> bool | None:
    """Whether a statement ends the script by an exception; `None` where it does not end it, or well."""
    import ast

    end = step.exc if isinstance(step, ast.Raise) else step.value if isinstance(step, ast.Expr) else None
    name, codes = (_name(end.func), end.args) if isinstance(end, ast.Call) else (_name(end), [])
    if name in _EXITS:
        well = not codes or (isinstance(codes[0], ast.Constant) and codes[0].value in (0, None))
        return None if well else False
    return True if isinstance(step, ast.Raise) else None


def _name(function: ast.expr | None) -> str:
    """`exit` of `sys.exit` and of `exit`."""
    return str(getattr(function, "attr", getattr(function, "id", "")))


def _nothing(_: str) -> None:
    pass
