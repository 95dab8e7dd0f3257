"""Rewrites a module's syntax tree so that array operations pass through `_native.watched`.

`a + b` becomes `watched(operator.add, a, b)` in the same place of the same line, evaluated in the same order by the
same C function that the interpreter would have called; what is called is a builtin, so neither tracebacks nor
`sys._getframe` see a difference. Nothing is added to the module's names: the callables are constants of its code.

Left alone: annotations (their source may be kept as text), patterns of `match` (syntax, not expressions), constant
expressions, string formatting, chained comparisons, `in` and `is`.
"""

from __future__ import annotations

import ast
import operator
import sys
import warnings

from .. import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType


BINARY: dict[type[ast.operator], Callable[..., object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
IN_PLACE: dict[type[ast.operator], Callable[..., object]] = {
    ast.Add: operator.iadd,
    ast.Sub: operator.isub,
    ast.Mult: operator.imul,
    ast.Div: operator.itruediv,
    ast.FloorDiv: operator.ifloordiv,
    ast.Mod: operator.imod,
    ast.Pow: operator.ipow,
    ast.MatMult: operator.imatmul,
    ast.BitAnd: operator.iand,
    ast.BitOr: operator.ior,
    ast.BitXor: operator.ixor,
    ast.LShift: operator.ilshift,
    ast.RShift: operator.irshift,
}
UNARY: dict[type[ast.unaryop], Callable[..., object]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
COMPARE: dict[type[ast.cmpop], Callable[..., object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}

_CALLED: tuple[Callable[..., object], ...] = (
    *BINARY.values(),
    *IN_PLACE.values(),
    *UNARY.values(),
    *COMPARE.values(),
    operator.getitem,
    slice,
    _native.watched,
    _native.watched_store,
    _native.watched_pick,
    _native.watched_put_back,
    _native.watched_host,
)
#: What may stand in a rewritten code object's constants, by the text that stands for it until after compilation.
_CONSTANTS = {f"\0breakeven.{function.__name__}": function for function in _CALLED}


def rewritten(source: bytes, path: str) -> CodeType:
    """The code of a module, rewritten. `source` is known to compile."""
    with warnings.catch_warnings():
        # The interpreter has warned about this source already, and `"…"(x)` is our own notation here.
        warnings.simplefilter("ignore")
        tree = _Rewriter().visit(ast.parse(source, path))
        code: CodeType = compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)
    return _with_callables(code)


def _with_callables(code: CodeType) -> CodeType:
    code_type = type(code)

    def resolved(constant: object) -> object:
        if isinstance(constant, code_type):
            return _with_callables(constant)
        return _CONSTANTS.get(constant, constant) if type(constant) is str else constant

    return code.replace(co_consts=tuple(map(resolved, code.co_consts)))


def _name(function: Callable[..., object]) -> ast.expr:
    return ast.Constant(f"\0breakeven.{function.__name__}")


def _call(place: ast.AST, function: Callable[..., object], *arguments: ast.expr) -> ast.Call:
    return ast.copy_location(ast.Call(_name(function), list(arguments), []), place)


def _watched(place: ast.AST, function: Callable[..., object], *arguments: ast.expr) -> ast.Call:
    return _call(place, _native.watched, _name(function), *arguments)


def _place_at_name(call: ast.Call, method: ast.Attribute) -> None:
    """The compiler puts a method call on the line of the method's name, not of the object (`a⏎.b()`)."""
    line, column = method.end_lineno, method.end_col_offset
    if line is None or column is None or line == call.lineno:
        return
    for node in (call, method):
        node.lineno, node.col_offset = line, column - len(method.attr)
        if sys.version_info < (3, 12):
            node.end_col_offset = column


def _constant(node: ast.expr) -> bool:
    """Whether no array can come out of it: a literal, or arithmetic on literals."""
    if isinstance(node, ast.UnaryOp):
        return _constant(node.operand)
    if isinstance(node, ast.BinOp):
        return _constant(node.left) and _constant(node.right)
    return isinstance(node, (ast.Constant, ast.JoinedStr, ast.Tuple, ast.List, ast.Dict))


def _text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))


class _Rewriter(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if _constant(node) or _text(node.left) or _text(node.right):
            return node
        self.generic_visit(node)
        return _watched(node, BINARY[type(node.op)], node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if _constant(node):
            return node
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            node.operand = _call(node.operand, _native.watched_host, node.operand)
            return node
        return _watched(node, UNARY[type(node.op)], node.operand)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        function = COMPARE.get(type(node.ops[0]))
        if len(node.ops) != 1 or function is None or _text(node.comparators[0]):
            return node
        return _watched(node, function, node.left, node.comparators[0])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        call = ast.copy_location(ast.Call(_name(_native.watched), [node.func, *node.args], node.keywords), node)
        starred = any(isinstance(word, ast.Starred) for word in node.args) or any(
            word.arg is None for word in node.keywords
        )
        if isinstance(node.func, ast.Attribute) and not starred:
            _place_at_name(call, node.func)
        return call

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return _watched(node, operator.getitem, node.value, _index(node.slice))

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) != 1 or not isinstance(target, ast.Subscript):
            return node
        store = _call(target, _native.watched_store, node.value, target.value, _index(target.slice))
        return ast.copy_location(ast.Expr(store), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        target, function = node.target, IN_PLACE[type(node.op)]
        if isinstance(target, ast.Subscript):
            picked = _call(target, _native.watched_pick, target.value, _index(target.slice))
            put_back = _call(node, _native.watched_put_back, picked, _name(function), node.value)
            return ast.copy_location(ast.Expr(put_back), node)
        value: ast.expr
        if isinstance(target, ast.Name):
            value = ast.Name(target.id, ast.Load())
        elif isinstance(target.value, ast.Name):
            value = ast.Attribute(ast.Name(target.value.id, ast.Load()), target.attr, ast.Load())
        else:
            return node  # evaluating the target twice could be noticed
        value = _watched(node, function, ast.copy_location(value, target), node.value)
        return ast.copy_location(ast.Assign([target], value), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        self._visit_function(node)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        self._visit_function(node)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self._visit_defaults(node.args)
        node.body = self.visit(node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        for name in ("bases", "keywords", "body", "decorator_list"):
            setattr(node, name, [self.visit(part) for part in getattr(node, name)])
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        if node.guard is not None:
            node.guard = self.visit(node.guard)
        node.body = [self.visit(part) for part in node.body]
        return node

    def visit_TypeAlias(self, node: ast.stmt) -> ast.stmt:
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        self.generic_visit(node)
        node.iter = _call(node.iter, _native.watched_host, node.iter)
        return node

    def visit_If(self, node: ast.If) -> ast.stmt:
        self.generic_visit(node)
        node.test = _test(node.test)
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:
        self.generic_visit(node)
        node.test = _test(node.test)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        node.test = _test(node.test)
        return node

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._visit_defaults(node.args)
        node.body = [self.visit(part) for part in node.body]
        node.decorator_list = [self.visit(part) for part in node.decorator_list]

    def _visit_defaults(self, arguments: ast.arguments) -> None:
        arguments.defaults = [self.visit(part) for part in arguments.defaults]
        arguments.kw_defaults = [part if part is None else self.visit(part) for part in arguments.kw_defaults]


def _test(node: ast.expr) -> ast.expr:
    """A condition: an array there is read by the host. Literals stay, so that dead branches stay dead."""
    if isinstance(node, (ast.Constant, ast.BoolOp)) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
        return node
    return _call(node, _native.watched_host, node)


def _index(node: ast.expr) -> ast.expr:
    """A subscript as an expression: `1:n, None` as `(slice(1, n, None), None)`."""
    if isinstance(node, ast.Slice):
        bounds = (node.lower, node.upper, node.step)
        return _call(node, slice, *(ast.copy_location(ast.Constant(None), node) if b is None else b for b in bounds))
    if isinstance(node, ast.Tuple):
        return ast.copy_location(ast.Tuple([_index(part) for part in node.elts], ast.Load()), node)
    return node
