"""The source of a compiled function as a tree, and whether its loops can be told from it."""

from __future__ import annotations

import ast
import inspect
import textwrap

from .values import NotTold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FunctionType


class Source:
    """A function of Python's, read. Line numbers are those of its file."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.name = function.__name__
        self.tree = _tree(function)
        self.cells: dict[str, object] = {}
        names = function.__code__.co_freevars
        for name, cell in zip(names, function.__closure__ or ()):
            try:
                self.cells[name] = cell.cell_contents
            except ValueError:  # not filled yet: the function itself, within the one that makes it
                self.cells[name] = None

    @property
    def parameters(self) -> list[str]:
        arguments = self.tree.args
        return [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]

    def outer(self, name: str) -> object:
        """What a name stands for that is none of the function's own; `KeyError` where it is nothing."""
        if name in self.cells:
            return self.cells[name]
        names = self.function.__globals__
        if name in names:
            return names[name]
        found = names["__builtins__"]
        inside: dict[str, object] = found if isinstance(found, dict) else vars(found)
        return inside[name]


def _tree(function: FunctionType) -> ast.FunctionDef:
    try:
        text = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(text)
    except (OSError, TypeError, SyntaxError, IndentationError, ValueError):
        raise NotTold("its source is not there") from None
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if len(found) != 1 or found[0].name != function.__name__:
        raise NotTold("its source is no function by itself")
    definition = found[0]
    for node in ast.walk(definition):
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            raise NotTold("it is a generator")
        if isinstance(node, ast.Try):
            raise NotTold("it catches exceptions")
        if isinstance(node, ast.With):
            raise NotTold("it goes back to Python in a `with`")
        if isinstance(node, (ast.FunctionDef, ast.Lambda)) and node is not definition:
            raise NotTold("it makes functions of its own")
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            raise NotTold("it has a comprehension")
        if isinstance(node, (ast.Dict, ast.Set)):
            raise NotTold("it makes a dictionary or a set")
    if definition.args.vararg or definition.args.kwarg or definition.args.kwonlyargs:
        raise NotTold("it takes any number of arguments")
    ast.increment_lineno(definition, function.__code__.co_firstlineno - 1)
    definition.decorator_list = []
    return definition


_READ: dict[object, Source | NotTold] = {}


def remember(function: FunctionType, source: Source) -> None:
    """What stands for the source of a function that has no file."""
    _READ[function] = source


def source_of(function: FunctionType) -> Source:
    """The function read, once."""
    found = _READ.get(function)
    if found is None:
        try:
            found = Source(function)
        except NotTold as why:
            found = why
        _READ[function] = found
    if isinstance(found, NotTold):
        raise found
    return found
