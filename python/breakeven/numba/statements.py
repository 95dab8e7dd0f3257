"""The walk through a function: each statement once, with how often it runs."""

from __future__ import annotations

import ast

from . import indexing
from .blocks import ends_early, leaves, names_set
from .expressions import Evaluator
from .rounds import Rounds, rounds_of
from .source import source_of
from .values import INT, NONE, Array, NotTold, Number, Several, Thing, promoted
from .walk import Frame, NeedsCounts, Walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    import types
    from collections.abc import Mapping

    from .loops import Loop
    from .source import Source
    from .values import Value
    from .walk import Mark

#: Functions within functions.
_DEEPEST = 12


def walked(source: Source, given: list[Value], counts: Mapping[Mark, int] | None) -> tuple[Loop, list[Value]]:
    """The loops of one call, and what it may give back; `NeedsCounts` where it depends on data that was not counted."""
    walk = Walk(source.tree.body, source.tree.lineno, counts)
    frame = Frame(source, ())
    frame.names.update(zip(source.parameters, given))
    walk.frames.append(frame)
    Statements(walk).block(source.tree.body)
    return walk.root, frame.returns


class Statements:
    """Runs statements in a walk."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.values = Evaluator(walk, self.inner)

    @property
    def frame(self) -> Frame:
        return self.walk.frames[-1]

    def block(self, body: list[ast.stmt]) -> None:
        """Statements one after the other, as often as the walk says."""
        before = self.walk.times
        for place, statement in enumerate(body):
            self.walk.line = statement.lineno
            left = self._statement(statement)
            self.walk.flush()
            self.walk.temporary.clear()
            if left:
                break
            if isinstance(statement, (ast.If, ast.For, ast.While)) and leaves([statement]) and body[place + 1 :]:
                self._rest(body[place + 1])
        self.walk.times = before

    def _rest(self, following: ast.stmt) -> None:
        """What follows a statement that may leave the block runs as often as was counted."""
        counted = self.walk.count(self.frame.mark(following, "rest"))
        if counted is None:
            raise NeedsCounts
        self.walk.times = counted

    def _statement(self, node: ast.stmt) -> bool:
        """Runs one; whether nothing after it in the block does."""
        value = self.values.value
        if isinstance(node, ast.Assign):
            found = value(node.value)
            for target in node.targets:
                self._set(target, found)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self._set(node.target, value(node.value))
        elif isinstance(node, ast.AugAssign):
            self._changed(node)
        elif isinstance(node, ast.For):
            self._for(node)
        elif isinstance(node, ast.While):
            self._while(node)
        elif isinstance(node, ast.If):
            return self._if(node)
        elif isinstance(node, ast.Return):
            self.frame.returns.append(NONE if node.value is None else value(node.value))
            return True
        elif isinstance(node, ast.Expr):
            value(node.value)
        elif isinstance(node, (ast.Break, ast.Continue, ast.Raise)):
            return True
        elif not isinstance(node, (ast.Pass, ast.Assert, ast.Delete)):
            raise NotTold(f"it has a statement ({type(node).__name__}) that breakeven does not know")
        return False

    def _set(self, target: ast.expr, found: Value) -> None:
        if isinstance(target, ast.Name):
            self.frame.names[target.id] = found
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = found.items if isinstance(found, Several) else None
            if items is None and isinstance(found, Array) and found.shape:
                items = [indexing.load(self.walk, found, Number(INT, place)) for place in range(found.shape[0])]
            if items is None or len(items) != len(target.elts):
                raise NotTold("it unpacks something of another length")
            for one, item in zip(target.elts, items):
                self._set(one, item)
        elif isinstance(target, ast.Subscript):
            key = self.values.key(target.slice)
            indexing.store(self.walk, self.values.value(target.value), key, found)
        else:
            raise NotTold("it sets an attribute")

    def _changed(self, node: ast.AugAssign) -> None:
        """`a += b`, `a[i] += b`."""
        walk, kind = self.walk, type(node.op)
        if not isinstance(node.target, ast.Subscript):
            name = ast.copy_location(ast.Name(_id_of(node.target), ast.Load()), node.target)
            old, more = self.values.value(name), self.values.value(node.value)
            made = _binary(walk, kind, old, more)
            if isinstance(old, Array):
                walk.whole(old, True)
                return
            self._set(node.target, made)
            return
        base, key = self.values.value(node.target.value), self.values.key(node.target.slice)
        more = self.values.value(node.value)
        if not isinstance(base, Array) or any(isinstance(item, Array) for item in indexing.keys_of(key)):
            indexing.store(walk, base, key, more, adds=True, reads=True)
            return
        adds = kind in (ast.Add, ast.Sub) and base.dtype.kind in "fiu"
        part = indexing.view(base, key)
        if part.shape:
            if adds and isinstance(more, Array):
                # Rounds may add to the same row in any order.
                walk.elementwise([more], {"one": 1}, part.dtype)
                walk.whole(part, True, adds=True)
                return
            indexing.store(walk, base, key, _binary(walk, kind, part, more), reads=True)
            return
        _binary(walk, kind, walk.number(base.dtype), more)
        indexing.store(walk, base, key, more, adds=adds, reads=True)

    def _if(self, node: ast.If) -> bool:
        walk = self.walk
        test = self.values.value(node.test)
        walk.flush()
        if isinstance(test, Thing) or (isinstance(test, Number) and test.known and not test.data):
            taken = test.value if isinstance(test, Number) else test is not NONE
            branch = node.body if taken else node.orelse
            self.block(branch)
            return bool(branch) and isinstance(branch[-1], (ast.Return, ast.Break, ast.Continue, ast.Raise))
        whole = walk.times
        first = walk.count(self.frame.mark(node, "then"))
        if first is None:
            raise NeedsCounts
        before = dict(self.frame.names)
        walk.times = first
        self.block(node.body)
        after, self.frame.names = self.frame.names, before
        walk.times = max(whole - first, 0.0)
        self.block(node.orelse)
        walk.times = whole
        self._join(after)
        return False

    def _join(self, other: dict[str, Value]) -> None:
        """Names are what either branch left in them."""
        names = self.frame.names
        for name, value in other.items():
            here = names.get(name)
            if here is None or here is value:
                names[name] = value
            elif isinstance(here, Number) and isinstance(value, Number):
                same = here.known and value.known and here.value == value.value
                names[name] = here if same else Number(promoted(here, value), None, None, True)
            elif isinstance(here, Array) and isinstance(value, Array):
                if here.shape != value.shape:
                    raise NotTold("the shape of an array depends on data")
                here.memory.others.append(value.memory)
                value.memory.others.append(here.memory)

    def _while(self, node: ast.While) -> None:
        counted = self.walk.count(self.frame.mark(node, "body"))
        if counted is None:
            raise NeedsCounts
        self._unsettle(node.body)
        self._loop(node, Rounds("while", counted, None, []), lambda: self.values.value(node.test))

    def _for(self, node: ast.For) -> None:
        counted = self.walk.count(self.frame.mark(node, "body"))
        rounds = rounds_of(self.walk, self.values, node, counted)
        self._unsettle(node.body)
        self._loop(node, rounds, None)

    def _unsettle(self, body: list[ast.stmt]) -> None:
        """Numbers that the body changes are not what they were before it."""
        for name in names_set(body):
            value = self.frame.names.get(name)
            if isinstance(value, Number):
                self.frame.names[name] = Number(value.dtype, None, None, True)

    def _loop(self, node: ast.For | ast.While, rounds: Rounds, test: object) -> None:
        walk = self.walk
        outer, whole = walk.loop, walk.times
        before = dict(self.frame.names)
        walk.flush()
        loop = rounds.begin(outer, node, whole)
        loop.before = set(before)
        loop.ends_early = ends_early(node.body) or bool(node.orelse)
        walk.loop, walk.times = loop, rounds.total
        if callable(test):
            walk.times = rounds.total + whole  # it is asked once more than it is true
            test()
            walk.times = rounds.total
        else:
            assert isinstance(node, ast.For)
            self._set(node.target, rounds.item(walk, loop))
        if rounds.total > 0:
            self.block(node.body)
        walk.loop, walk.times = outer, whole
        self._join(before)
        if node.orelse:
            self.block(node.orelse)

    def inner(
        self,
        walk: Walk,
        frame: Frame,
        node: ast.Call,
        function: types.FunctionType,
        given: list[Value],
        words: dict[str, Value],
    ) -> Value:
        """A call of another function that Numba compiles, walked through where it is called."""
        if any(one.function is function for one in walk.frames):
            raise NotTold("it calls itself")
        if len(walk.frames) >= _DEEPEST:
            raise NotTold("it calls functions within functions, too deep")
        source = source_of(function)
        inner = Frame(source, (*frame.path, (node.lineno, node.col_offset)))
        parameters = source.parameters
        inner.names.update(zip(parameters, given))
        inner.names.update(words)
        for name, default in zip(reversed(parameters), reversed(function.__defaults__ or ())):
            if name not in inner.names:
                from .values import of_object

                inner.names[name] = of_object(default, name)
        walk.frames.append(inner)
        line = walk.line
        pending, walk.pending = walk.pending, {}
        self.block(source.tree.body)
        walk.frames.pop()
        walk.line, walk.pending = line, pending
        return _joined(inner.returns)


def _binary(walk: Walk, kind: type, left: Value, right: Value) -> Value:
    from .operators import binary

    return binary(walk, kind, left, right)


def _id_of(target: ast.expr) -> str:
    if not isinstance(target, ast.Name):
        raise NotTold("it sets an attribute")
    return target.id


def _joined(returns: list[Value]) -> Value:
    """What a function gives, which may have given it in several places."""
    if not returns:
        return NONE
    if len(returns) == 1:
        return returns[0]
    numbers = [value for value in returns if isinstance(value, Number)]
    if len(numbers) == len(returns):
        return Number(promoted(*numbers), None, None, True)
    return returns[-1]
