"""Whether an exception raised now would be caught by a `try` of the Python code that is running."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from types import FrameType


_files: dict[str, list[tuple[int, int, frozenset[str]]]] = {}


def would_be_caught(*names: str) -> bool:
    """Whether a `try` that is being executed has an `except` for one of these, or for all, and does not raise again."""
    frame: FrameType | None = sys._getframe(1)
    wanted = {*names, "BaseException", ""}
    while frame is not None:
        line = frame.f_lineno or 0
        for first, last, caught in _tries(frame.f_code.co_filename):
            if first <= line <= last and caught & wanted:
                return True
        frame = frame.f_back
    return False


def _tries(path: str) -> list[tuple[int, int, frozenset[str]]]:
    """First and last line of each `try` body of a file, and what its handlers catch; "" stands for everything."""
    if path not in _files:
        import ast
        import tokenize

        found = []
        try:
            with tokenize.open(path) as file:
                tree = ast.parse(file.read())
        except (OSError, SyntaxError, ValueError):
            tree = ast.Module([], [])
        for node in ast.walk(tree):
            if isinstance(node, ast.Try):
                caught = frozenset(name for handler in node.handlers for name in _caught(handler))
                found.append((node.body[0].lineno, node.body[-1].end_lineno or 0, caught))
        _files[path] = found
    return _files[path]


def _caught(handler: ast.ExceptHandler) -> list[str]:
    import ast

    if any(isinstance(step, ast.Raise) and step.exc is None for step in handler.body):
        return []
    if handler.type is None:
        return [""]
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return [kind.attr if isinstance(kind, ast.Attribute) else getattr(kind, "id", "") for kind in kinds]
