"""A kernel of `@cuda.jit` as a function that Numba compiles for the CPU: threads are rounds of parallel loops."""

from __future__ import annotations

import ast
import copy
import types

import numba
import numpy

from .source import Source, remember, source_of
from .values import NotTold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The places of a thread, and the shape of the launch, as the kernel takes them.
_AXES = "xyz"
PLACES = [f"__{what}{axis}" for what in "igb" for axis in _AXES]
_WHOLE = {
    "threadIdx": "__i{0} % __b{0}",
    "blockIdx": "__i{0} // __b{0}",
    "blockDim": "__b{0}",
    "gridDim": "__g{0}",
}
_ATOMIC = {"add": "{0}[{1}] += {2}", "sub": "{0}[{1}] -= {2}", "max": "{0}[{1}] = max({0}[{1}], {2})"}
_ATOMIC |= {"min": "{0}[{1}] = min({0}[{1}], {2})"}
_OPTIONS = {"boundscheck": True, "error_model": "numpy"}
#: Rounds of all threads, with the innermost along x.
_LOOP = """\
def {name}({given}):
    for __iz in prange(__gz * __bz):
        for __iy in prange(__gy * __by):
            for __ix in prange(__gx * __bx):
                __kernel({given}, __ix, __iy, __iz)
"""


def loop_of(kernel: types.FunctionType) -> Any:
    """The compiled loop over a kernel's threads. It takes what the kernel takes, then the grid and the block. Raises
    NotTold where threads wait for each other, or use what only a GPU has."""
    source = source_of(kernel)
    inner = _compiled(source)
    given = ", ".join([*source.parameters, *PLACES[3:]])
    return _made(_LOOP.format(name=source.name, given=given), source, {"__kernel": inner, "prange": numba.prange})


def _compiled(source: Source) -> Any:
    """The kernel, or a function that it calls, of one thread."""
    tree = copy.deepcopy(source.tree)
    reads = _Thread(source)
    tree.body = [reads.visit(statement) for statement in tree.body]
    order = [*PLACES[3:], *PLACES[:3]]
    tree.args.args += [ast.arg(name) for name in order]
    tree.returns = None
    for argument in tree.args.args:
        argument.annotation = None
    return _made(ast.unparse(ast.fix_missing_locations(tree)), source, reads.inner, tree)


def _made(text: str, source: Source, names: dict[str, object], tree: ast.FunctionDef | None = None) -> Any:
    known = {**source.function.__globals__, **source.cells, "__numpy": numpy, **names}
    exec(compile(text, source.function.__code__.co_filename, "exec"), known)
    function = known[source.name]
    assert isinstance(function, types.FunctionType)
    made = Source.__new__(Source)
    made.function, made.name, made.cells = function, source.name, {}
    if tree is None:
        (tree,) = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
        # Lines are those of the kernel; columns stay, by which places are told apart.
        ast.increment_lineno(tree, source.tree.lineno - 1)
    made.tree = tree
    remember(function, made)
    return numba.njit(**_OPTIONS)(function)


class _Thread(ast.NodeTransformer):
    """What a kernel asks of `numba.cuda`, as names."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.inner: dict[str, object] = {}

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        if isinstance(call, ast.Call) and (name := self._of_cuda(call.func)) is not None:
            kind = name.removeprefix("atomic.")
            if name != kind and kind in _ATOMIC and len(call.args) == 3:
                target, place, value = (ast.unparse(self.visit(item)) for item in call.args)
                place = place[1:-1] if isinstance(call.args[1], ast.Tuple) else place
                added: ast.AST = _at(ast.parse(_ATOMIC[kind].format(target, place, value)).body[0], node)
                return added
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = self._of_cuda(node.func)
        if name is None:
            self._device_function(node)
            return self.generic_visit(node)
        if name in ("grid", "gridsize") and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
            form = "__i{0}" if name == "grid" else "__g{0} * __b{0}"
            axes = [form.format(axis) for axis in _AXES[: int(str(node.args[0].value))]]
            return _expression(axes[0] if len(axes) == 1 else f"({', '.join(axes)})", node)
        if name == "local.array" and len(node.args) == 2:
            shape, dtype = (ast.unparse(self.visit(item)) for item in node.args)
            return _expression(f"__numpy.empty({shape}, {dtype})", node)
        raise NotTold(f"it calls cuda.{name}")

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        name = self._of_cuda(node)
        if name is None:
            return self.generic_visit(node)
        what, _, axis = name.partition(".")
        if what in _WHOLE and axis in _AXES and axis:
            return _expression(f"({_WHOLE[what].format(axis)})", node)
        raise NotTold(f"it uses cuda.{name}")

    def _of_cuda(self, node: ast.expr) -> str | None:
        """The rest of `cuda.threadIdx.x`, where its first name is Numba's module."""
        path: list[str] = []
        while isinstance(node, ast.Attribute):
            path.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        found = self._outer(node.id)
        module = str(getattr(found, "__name__", "")) if isinstance(found, types.ModuleType) else ""
        if not path:
            of = str(getattr(found, "__module__", "")).split(".")
            if of[:2] == ["numba", "cuda"] and not hasattr(found, "fn"):
                raise NotTold(f"it uses {node.id} of numba.cuda by itself")
        if module == "numba" and path[:1] == ["cuda"]:
            return ".".join(path[1:])
        return ".".join(path) if module.startswith("numba.cuda") and path else None

    def _outer(self, name: str) -> object:
        try:
            return None if name in self.source.parameters else self.source.outer(name)
        except KeyError:
            return None

    def _device_function(self, node: ast.Call) -> None:
        """A call of a function of the device's, which is told the thread as well."""
        if not isinstance(node.func, ast.Name):
            return
        inner = getattr(self._outer(node.func.id), "fn", None)
        if isinstance(inner, types.FunctionType):
            if inner is self.source.function:
                raise NotTold("it calls itself")
            self.inner[node.func.id] = _compiled(source_of(inner))
            node.args = [*node.args, *(ast.Name(name, ast.Load()) for name in (*PLACES[3:], *PLACES[:3]))]


def _expression(text: str, node: ast.AST) -> ast.expr:
    made: ast.expr = _at(ast.parse(text, mode="eval").body, node)
    return made


def _at(made: Any, node: ast.AST) -> Any:
    """A tree at the place of the one that it replaces."""
    for inner in ast.walk(made):
        if hasattr(inner, "lineno"):
            ast.copy_location(inner, node)
    return made
