"""What of a function decides how often its loops run: the rest need not be computed to count them."""

from __future__ import annotations

import ast

from .callees import is_random
from .expressions import compiled
from .functions import FILLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .source import Source

#: Stands for the state of random numbers among names.
RANDOM = "@random"
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)
_VIEWS = ("reshape", "ravel", "transpose", "view", "T")
_SIZES = (*FILLS, "arange", "linspace", "eye", "identity", "reshape", "rand", "randn", "empty_like")


class Slice:
    """The names of a function that decide which of its statements run how often; `needed`: those statements."""

    def __init__(self, source: Source, gives: bool = False) -> None:
        """`gives`: what the function gives is needed, too."""
        self.source = source
        self.names: set[str] = set()
        self.calls = False
        for node in ast.walk(source.tree):
            if isinstance(node, ast.For):
                self.names |= _names(node.iter)
            elif isinstance(node, (ast.While, ast.If)):
                self._needs(node.test)
            elif isinstance(node, ast.Return) and node.value is not None and gives:
                self._needs(node.value)
            elif isinstance(node, ast.Call) and self.counted(node) is not None:
                self.calls = True
                for item in (*node.args, *node.keywords):
                    self._needs(item)
        while self._grows():
            pass

    def _needs(self, node: ast.AST) -> None:
        self.names |= _names(node)
        if self.draws(node):
            self.names.add(RANDOM)

    def _grows(self) -> bool:
        """Names that those so far are computed from, and those that stand for the same arrays."""
        before = len(self.names)
        for node in ast.walk(self.source.tree):
            if isinstance(node, _SIMPLE):
                if self.needed(node):
                    self._needs(node)
                elif isinstance(node, ast.Assign) and _may_share(node.value) and _names(node.value) & self.names:
                    for target in node.targets:
                        self.names |= _names(target)
            elif isinstance(node, ast.For) and _names(node.iter) & self.names:
                self.names |= _names(node.target)
        return len(self.names) > before

    def needed(self, node: ast.stmt) -> bool:
        """Whether a statement decides how often something runs."""
        if self.draws(node) and RANDOM in self.names:
            return True
        if isinstance(node, ast.Assign):
            return any(_bases(target) & self.names for target in node.targets)
        if isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            return bool(_bases(node.target) & self.names)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            return bool(_names(node.value) & self.names)
        return False

    def draws(self, node: ast.AST) -> bool:
        """Whether random numbers are drawn in it."""
        return any(is_random(self.outer(call.func)) for call in ast.walk(node) if isinstance(call, ast.Call))

    def counted(self, node: ast.Call) -> object:
        """The compiled function that is called, where it has anything to count."""
        found = self.outer(node.func)
        function = compiled(found)
        return found if function is not None else None

    def outer(self, node: ast.expr) -> object:
        """What an expression of names stands for outside the function; `None` where it is nothing."""
        if isinstance(node, ast.Attribute):
            return getattr(self.outer(node.value), node.attr, None)
        if isinstance(node, ast.Name) and node.id not in self.source.parameters:
            try:
                return self.source.outer(node.id)
            except KeyError:
                return None
        return None

    def stores(self) -> bool:
        """Whether what is needed may write to arrays."""
        for node in ast.walk(self.source.tree):
            if isinstance(node, _SIMPLE) and self.needed(node):
                targets = getattr(node, "targets", [getattr(node, "target", None)])
                if isinstance(node, ast.Expr) or any(isinstance(target, ast.Subscript) for target in targets):
                    return True
                if isinstance(node, ast.AugAssign):
                    return True
        return self.calls


def deciding(source: Source) -> set[str]:
    """Names whose value decides what is computed: how often loops run, how long arrays and slices are, powers."""
    names = set(Slice(source).names)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Slice):
            names |= _names(node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            names |= _names(node.right)
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in _SIZES or any(word.arg == "size" for word in node.keywords):
                names |= _names(node)
    for _ in range(len(names) + 8):
        before = len(names)
        for node in ast.walk(source.tree):
            if isinstance(node, (ast.Assign, ast.AugAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(_bases(target) & names for target in targets):
                    names |= _names(node)
        if len(names) == before:
            break
    return names


def _names(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _bases(target: ast.AST) -> set[str]:
    """The names that an assignment changes, or whose arrays it changes."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return {name for item in target.elts for name in _bases(item)}
    while isinstance(target, (ast.Subscript, ast.Attribute, ast.Starred)):
        target = target.value
    return {target.id} if isinstance(target, ast.Name) else set()


def _may_share(value: ast.expr) -> bool:
    """Whether an expression may give an array that stands under another name, too."""
    if isinstance(value, (ast.Name, ast.Subscript, ast.Attribute)):
        return True
    if isinstance(value, (ast.Tuple, ast.List)):
        return any(_may_share(item) for item in value.elts)
    if isinstance(value, ast.IfExp):
        return _may_share(value.body) or _may_share(value.orelse)
    return isinstance(value, ast.Call) and getattr(value.func, "attr", "") in _VIEWS
