"""What cuDF's classes define, read from an unpacked wheel without importing it."""

from __future__ import annotations

import ast
import pathlib
from dataclasses import dataclass, field

_ANY = "any arguments"


@dataclass
class Method:
    """A method or function of cuDF's: its parameters, and what it refuses."""

    parameters: list[str] = field(default_factory=list)
    takes_more: bool = True
    property: bool = False
    #: Conditions under which it raises NotImplementedError, as source text; "" stands for always.
    refusals: list[str] = field(default_factory=list)


class Wheel:
    """The classes and functions of one wheel."""

    def __init__(self, root: pathlib.Path) -> None:
        self.classes: dict[str, ast.ClassDef] = {}
        self.functions: dict[str, ast.FunctionDef] = {}
        self.exported: set[str] = set()
        for path in sorted(root.rglob("*.py")):
            if {"tests", "testing"} & set(path.parts):
                continue
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.ClassDef):
                    self.classes.setdefault(node.name, node)
                elif isinstance(node, ast.FunctionDef):
                    self.functions.setdefault(node.name, node)
        for node in ast.walk(ast.parse((root / "__init__.py").read_text())):
            if isinstance(node, ast.ImportFrom):
                self.exported |= {alias.asname or alias.name for alias in node.names}

    def members(self, name: str, seen: tuple[str, ...] = ()) -> dict[str, Method]:
        """What a class has, its bases' too."""
        got: dict[str, Method] = {}
        node = self.classes.get(name)
        if node is None or name in seen:
            return got
        for base in reversed(node.bases):
            got |= self.members(ast.unparse(base).split(".")[-1].split("[")[0], (*seen, name))
        for item in node.body:
            if isinstance(item, ast.FunctionDef):
                got[item.name] = method(item)
            elif isinstance(item, ast.Assign):
                names = [target.id for target in item.targets if isinstance(target, ast.Name)]
                got |= {name: Method(property=True) for name in names}
                if names and names[0].startswith("_VALID_"):
                    constants = (part.value for part in ast.walk(item.value) if isinstance(part, ast.Constant))
                    got |= {name: Method() for name in constants if isinstance(name, str)}
            elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.value is not None:
                got[item.target.id] = Method(property=True)
        return got


def method(node: ast.FunctionDef) -> Method:
    """A function by its source."""
    arguments = node.args
    names = [argument.arg for argument in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
    marked = any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
    return Method(names, arguments.kwarg is not None, marked, _refusals(node))


def _refusals(node: ast.FunctionDef) -> list[str]:
    found: list[str] = []

    def visit(item: ast.AST, conditions: tuple[str, ...]) -> None:
        if isinstance(item, ast.If):
            test = ast.unparse(item.test)
            for child in item.body:
                visit(child, (*conditions, test))
            for child in item.orelse:
                visit(child, (*conditions, _ANY))
            return
        if isinstance(item, ast.Raise) and item.exc is not None:
            raised = getattr(item.exc, "func", item.exc)
            if getattr(raised, "id", "") == "NotImplementedError":
                found.append(conditions[-1] if conditions else "")
        nested = isinstance(item, ast.Try | ast.For | ast.While | ast.With | ast.FunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(item):
            visit(child, (*conditions, _ANY) if nested else conditions)

    for child in node.body:
        visit(child, ())
    return found
