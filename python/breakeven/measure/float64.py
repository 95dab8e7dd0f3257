"""A NumPy script in float64: single and half precision become double in its source, and in what it draws and reads."""

from __future__ import annotations

import ast
import importlib.machinery
from pathlib import Path
from typing import Any

_DOUBLE = "float64"
#: Names of types of elements, as attributes and as text, and what stands in their place.
_NAMES = {
    **dict.fromkeys(["float32", "single", "float16", "half", "f4", "<f4", "=f4", "f2", "<f2", "=f2"], _DOUBLE),
    **dict.fromkeys(["complex64", "csingle", "c8", "<c8", "=c8"], "complex128"),
}
#: Functions to which the type is more than a precision: what is drawn and which bytes are read depend on it. They keep
#: it, and their results are made double.
_KEPT = {
    "random", "standard_normal", "standard_exponential", "standard_gamma", "fromfile", "frombuffer", "fromstring",
    "memmap", "view", "load",
}  # fmt: skip
_HELPER = "__breakeven_float64__"


class _Double(ast.NodeTransformer):
    """Single and half precision by their names: `np.float32`, `dtype="f4"`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Results of those that keep their type are made double."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in _KEPT:
            node.func = self.visit(node.func)
            return ast.Call(ast.Name(_HELPER, ast.Load()), [node], [])
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """`np.float32`."""
        if isinstance(node.ctx, ast.Load):
            node.attr = _NAMES.get(node.attr, node.attr)
        return self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        """`from numpy import float32`."""
        if node.module == "numpy":
            for alias in node.names:
                if alias.name in _NAMES:
                    alias.asname, alias.name = alias.asname or alias.name, _NAMES[alias.name]
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """`"float32"`."""
        return ast.Constant(_NAMES.get(node.value, node.value)) if isinstance(node.value, str) else node


def double(value: Any) -> Any:
    """An array of single or half precision in double; anything else as it is.

    >>> import numpy
    >>> double(numpy.ones(2, "f4")).dtype, double("f4")
    (dtype('float64'), 'f4')
    """
    import numpy

    if isinstance(value, (numpy.ndarray, numpy.generic)) and value.dtype.kind in "fc":
        return value.astype(numpy.result_type(value.dtype, numpy.float64), copy=False)
    return value


def parsed(source: Any, path: str) -> ast.Module:
    """The source with double precision throughout."""
    tree: ast.Module = _Double().visit(ast.parse(source, path))
    return ast.fix_missing_locations(tree)


def install(root: Path) -> None:
    """From now on modules below `root` are read in double precision."""
    import builtins

    setattr(builtins, _HELPER, double)
    loader: Any = importlib.machinery.SourceFileLoader
    as_it_is = loader.source_to_code

    def source_to_code(self: Any, data: Any, path: Any, **options: Any) -> Any:
        if Path(str(path)).is_relative_to(root):
            data = parsed(data, str(path))
        return as_it_is(self, data, path, **options)

    loader.source_to_code = source_to_code
