"""What an expression gives, and what computing it costs."""

from __future__ import annotations

import ast
import types

from . import indexing, operators
from .callees import call
from .elements import inner_of, places
from .values import BOOL, INT, NONE, Array, NotTold, Number, Several, Thing, of_object, promoted, real

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .values import Value
    from .walk import Frame, Walk

    #: How a function that Numba compiles, too, is walked through where it is called.
    Inner = Callable[[Walk, Frame, ast.Call, types.FunctionType, list[Value], dict[str, Value]], Value]

_PARTS = ("real", "imag")


class Evaluator:
    """Computes expressions in a frame. `inner` walks through functions that are called."""

    def __init__(self, walk: Walk, inner: Inner) -> None:
        self.walk = walk
        self.inner = inner
        self.attributes: dict[tuple[int, str], Value] = {}

    def value(self, node: ast.expr) -> Value:
        """The value of an expression."""
        frame = self.walk.frames[-1]
        if isinstance(node, ast.Constant):
            return _constant(node.value)
        if isinstance(node, ast.Name):
            return self._named(frame, node.id)
        if isinstance(node, ast.BinOp):
            return operators.binary(self.walk, type(node.op), self.value(node.left), self.value(node.right))
        if isinstance(node, ast.UnaryOp):
            return operators.unary(self.walk, type(node.op), self.value(node.operand))
        if isinstance(node, ast.Compare):
            return self._compared(node)
        if isinstance(node, ast.BoolOp):
            return self._all_or_any(node)
        if isinstance(node, ast.IfExp):
            return self._chosen(node)
        if isinstance(node, (ast.Tuple, ast.List)):
            return Several([self.value(item) for item in node.elts])
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Subscript):
            return indexing.load(self.walk, self.value(node.value), self.key(node.slice))
        if isinstance(node, ast.Call):
            return self._called(frame, node)
        if isinstance(node, ast.NamedExpr):
            frame.names[node.target.id] = found = self.value(node.value)
            return found
        raise NotTold(f"it has an expression ({type(node).__name__}) that breakeven does not know")

    def key(self, node: ast.expr) -> object:
        """What stands between brackets."""
        if isinstance(node, ast.Slice):
            bounds = [None if bound is None else self.value(bound) for bound in (node.lower, node.upper, node.step)]
            for bound in bounds:
                if bound is not None and bound is not NONE and not isinstance(bound, Number):
                    raise NotTold("a slice has a bound that is no number")
            return indexing.Slice(*(bound if isinstance(bound, Number) else None for bound in bounds))
        if isinstance(node, ast.Tuple):
            return Several([self.key(item) for item in node.elts])  # type: ignore[misc]
        return self.value(node)

    def _named(self, frame: Frame, name: str) -> Value:
        found = frame.names.get(name)
        if found is not None:
            return found
        try:
            outer = frame.source.outer(name)
        except KeyError:
            raise NotTold(f"nothing is known of the name {name}") from None
        found = of_object(outer, name)
        frame.names[name] = found
        return found

    def _compared(self, node: ast.Compare) -> Value:
        left = self.value(node.left)
        result: Value = Number(BOOL, True)
        for kind, right_node in zip(node.ops, node.comparators):
            if isinstance(kind, (ast.In, ast.NotIn)):
                raise NotTold("it looks for something in a list")
            right = self.value(right_node)
            one = operators.compare(self.walk, type(kind), left, right)
            result = _both(result, one)
            left = right
        return result

    def _all_or_any(self, node: ast.BoolOp) -> Value:
        result: Value | None = None
        for item in node.values:
            one = self.value(item)
            result = one if result is None else _both(result, one, isinstance(node.op, ast.Or))
        assert result is not None
        return result

    def _chosen(self, node: ast.IfExp) -> Value:
        """Both sides are within a few operations; a GPU computes both."""
        test = self.value(node.test)
        if isinstance(test, Number) and test.known and not test.data:
            return self.value(node.body if test.value else node.orelse)
        one, other = self.value(node.body), self.value(node.orelse)
        if isinstance(one, Number) and isinstance(other, Number):
            return Number(promoted(one, other), None, None, True)
        return one

    def _attribute(self, node: ast.Attribute) -> Value:
        base = self.value(node.value)
        name = node.attr
        if isinstance(base, Thing) and isinstance(base.object, types.ModuleType):
            return of_object(getattr(base.object, name, None), name)
        if isinstance(base, Array):
            if name == "shape":
                return Several([Number(INT, length) for length in base.shape])
            if name in ("size", "ndim", "nbytes", "itemsize"):
                sizes = {"size": base.size, "ndim": len(base.shape), "itemsize": base.dtype.itemsize}
                return Number(INT, sizes.get(name, base.size * base.dtype.itemsize))
            if name == "T":
                return Array(base.dtype, base.shape[::-1], base.memory, base.axes if len(base.shape) == 1 else ())
            if name == "flat":
                return Array(base.dtype, (base.size,), base.memory, ())
            if name == "dtype":
                return Thing(base.dtype)
            if name in _PARTS:
                return Array(real(base.dtype), base.shape, base.memory, base.axes)
        if isinstance(base, Number) and name in _PARTS:
            return Number(real(base.dtype), None, None, True)
        if isinstance(base, Thing):
            if base.of is None and not isinstance(base.object, str):
                # An object gives another view of its array each time.
                key = (id(base.object), name)
                if key not in self.attributes:
                    self.attributes[key] = of_object(getattr(base.object, name, None), name)
                return self.attributes[key]
            raise NotTold(f"it has an attribute {name} that breakeven does not know")
        return Thing(name, base)

    def _called(self, frame: Frame, node: ast.Call) -> Value:
        if any(isinstance(item, ast.Starred) for item in node.args) or any(word.arg is None for word in node.keywords):
            raise NotTold("it calls a function with a list of arguments")
        callee = self.value(node.func)
        given = [self.value(item) for item in node.args]
        words = {word.arg: self.value(word.value) for word in node.keywords if word.arg is not None}
        if not isinstance(callee, Thing):
            raise NotTold("it calls something that is no function")
        if type(callee.object).__name__ == "StencilFunc":
            return self._stencil(frame, node, callee.object, given)
        function = compiled(callee.object)
        if function is not None:
            return self.inner(self.walk, frame, node, function, given, words)
        return call(self.walk, callee, given, words)

    def _stencil(self, frame: Frame, node: ast.Call, stencil: Any, given: list[Value]) -> Value:
        """A stencil called within compiled code: a loop over the places of its first array."""
        first = given[0] if given else None
        if not isinstance(first, Array):
            raise NotTold("a stencil is given no array")
        loop = places(inner_of(stencil.kernel_ir.func_id.func), len(given))
        made = self.walk.made(first.dtype, (first.size,))
        self.inner(self.walk, frame, node, loop.function, [*given, made, Number(INT, first.size)], {})
        return indexing.reshaped(made, first.shape)


def compiled(found: object) -> types.FunctionType | None:
    """The function in Python of what Numba compiles."""
    found = getattr(found, "_dispatcher", found)  # of an element-wise one
    function = getattr(found, "py_func", None)
    return function if isinstance(function, types.FunctionType) else None


def _constant(value: object) -> Value:
    if value is None or value is Ellipsis or isinstance(value, str):
        return NONE if value is None else Thing(value) if value is Ellipsis else Thing(value, NONE)
    return of_object(value, "")


def _both(left: Value, right: Value, either: bool = False) -> Value:
    """`left and right`, or `left or right`."""
    if isinstance(left, Number) and isinstance(right, Number):
        if left.known and right.known:
            value = (left.value or right.value) if either else (left.value and right.value)
            return Number(BOOL, bool(value), None, left.data or right.data)
        for one in (left, right):
            if one.known and bool(one.value) is either:
                return Number(BOOL, either)
        return Number(BOOL, None, None, left.data or right.data)
    return right
