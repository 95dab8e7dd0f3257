"""A twin of a compiled function that computes no more than how often each of its places is reached."""

from __future__ import annotations

import ast
import copy
import warnings

import numpy

from .blocks import leaves
from .expressions import compiled
from .slicing import RANDOM, Slice
from .source import source_of
from .values import NotTold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .source import Source
    from .walk import Mark

_COUNTS, _MOST = "__counts", "__most"
#: Functions that a twin is made of, at most: each call of another has a twin of its own.
_TWINS = 64
_OPTIONS = ("fastmath", "error_model", "boundscheck")


class Twin:
    """The twin of a function with those that it calls. `random`: its loops depend on random numbers; `writes`: it may
    write to arrays that it is given; `names`: those of the arguments that it reads."""

    def __init__(self, source: Source, options: Mapping[str, object]) -> None:
        self.marks: dict[Mark, int] = {}
        self.options = {name: value for name, value in options.items() if name in _OPTIONS}
        self.made = 0
        top = Slice(source)
        self.random = RANDOM in top.names or top.calls
        self.writes = top.stores()
        self.names = top.names
        self.function = self._compiled(source, (), top, gives=False)

    def run(self, given: list[object], most: int) -> Mapping[Mark, int]:
        """The counts of one call, which takes no more than `most` rounds of a `while`."""
        counts = numpy.zeros(len(self.marks) + 1, numpy.int64)
        counts[-1] = most
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.function(counts, *given)
            except OverflowError:
                raise NotTold("counting its rounds took too long") from None
            except Exception as error:
                raise NotTold(f"its rounds could not be counted ({type(error).__name__})") from None
        return {mark: int(counts[place]) for mark, place in self.marks.items()}

    def _compiled(self, source: Source, path: tuple[tuple[int, int], ...], found: Slice, gives: bool) -> Any:
        import numba

        self.made += 1
        if self.made > _TWINS:
            raise NotTold("it calls functions in too many places")
        writer = _Writer(self, source, path, found, gives)
        tree = copy.deepcopy(source.tree)
        first = len(self.marks)
        body = writer.block(tree.body)
        own = [place for place in range(first, len(self.marks)) if place in writer.own]
        begin = [_parsed(f"__c{place} = 0") for place in own]
        flush = [_parsed(f"{_COUNTS}[{place}] += __c{place}") for place in own]
        tree.body = [_parsed(f"{_MOST} = {_COUNTS}[{_COUNTS}.size - 1]"), *begin, *_flushed(body, flush), *flush]
        tree.args.args.insert(0, ast.arg(_COUNTS))
        tree.returns = None
        names = {**source.function.__globals__, **source.cells, **writer.inner}
        module = ast.fix_missing_locations(ast.Module([tree], []))
        exec(compile(module, f"<counts of {source.name}>", "exec"), names)
        function: Any = names[tree.name]
        function.__defaults__ = source.function.__defaults__
        return numba.njit(**self.options)(function)


def _parsed(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


def _flushed(body: list[ast.stmt], flush: list[ast.stmt]) -> list[ast.stmt]:
    """The statements, with the counts written out before each `return`."""
    made: list[ast.stmt] = []
    for node in body:
        for part in ("body", "orelse"):
            if inside := getattr(node, part, None):
                setattr(node, part, _flushed(inside, flush))
        made += [*copy.deepcopy(flush), node] if isinstance(node, ast.Return) else [node]
    return made


class _Writer:
    """Writes the statements of one twin."""

    def __init__(
        self, twin: Twin, source: Source, path: tuple[tuple[int, int], ...], found: Slice, gives: bool
    ) -> None:
        self.twin = twin
        self.source = source
        self.path = path
        self.found = found
        self.gives = gives
        self.own: set[int] = set()
        self.inner: dict[str, object] = {}

    def count(self, node: ast.stmt, part: str) -> ast.stmt:
        """The statement that counts a place."""
        return self.counter(node, part)[1]

    def counter(self, node: ast.stmt, part: str) -> tuple[int, ast.stmt]:
        """The number of a place, and the statement that counts it."""
        mark = (self.path, node.lineno, node.col_offset, part)
        place = self.twin.marks.setdefault(mark, len(self.twin.marks))
        self.own.add(place)
        return place, _parsed(f"__c{place} += 1")

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for place, node in enumerate(body):
            made += self.statement(node)
            if isinstance(node, (ast.If, ast.For, ast.While)) and leaves([node]) and body[place + 1 :]:
                made.append(self.count(body[place + 1], "rest"))
        return made

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        """What of a statement decides how often something runs, with the counts in it."""
        if isinstance(node, (ast.For, ast.While)):
            place, counted = self.counter(node, "body")
            limit = []
            if isinstance(node, ast.While):
                limit = [_parsed(f"if __c{place} > {_MOST}: raise OverflowError")]
                node.test = self.called(node.test)
            else:
                node.iter = self.called(node.iter)
            node.body = [counted, *limit, *self.block(node.body)]
            node.orelse = self.block(node.orelse)
            return [node]
        if isinstance(node, ast.If):
            node.test = self.called(node.test)
            node.body = [self.count(node, "then"), *self.block(node.body)]
            node.orelse = self.block(node.orelse)
            return [node]
        if isinstance(node, ast.Return):
            if not self.gives:
                return [*self._calls(node), ast.Return(None)]
            node.value = None if node.value is None else self.called(node.value)
            return [node]
        if isinstance(node, ast.Raise):
            return [_parsed("raise ValueError")]
        if isinstance(node, (ast.Break, ast.Continue, ast.Pass)):
            return [node]
        if isinstance(node, ast.Assert):
            return []
        if self.found.needed(node):
            return [self.called(node)]
        return self._calls(node)

    def _calls(self, node: ast.stmt) -> list[ast.stmt]:
        """The calls in a statement of which nothing else is needed."""
        calls = [inner for inner in ast.walk(node) if isinstance(inner, ast.Call)]
        nested = {id(below) for call in calls for below in ast.walk(call) if below is not call}
        outermost = [call for call in calls if self.found.counted(call) is not None and id(call) not in nested]
        inside = [call for call in calls if self.found.counted(call) is not None and id(call) in nested]
        free = [call for call in inside if not any(call in list(ast.walk(other)) for other in outermost)]
        return [ast.Expr(self.called(call)) for call in (*outermost, *free)]

    def called(self, node: Any) -> Any:
        """The same with calls of compiled functions as calls of their twins."""
        return _Renamed(self).visit(node)

    def twin_of(self, node: ast.Call) -> str | None:
        """The name of the twin of what is called."""
        function = compiled(self.found.counted(node))
        if function is None:
            return None
        if function is self.source.function:
            raise NotTold("it calls itself")
        source = source_of(function)
        path = (*self.path, (node.lineno, node.col_offset))
        name = f"__twin{self.twin.made}"
        self.inner[name] = self.twin._compiled(source, path, Slice(source, gives=True), gives=True)
        return name


class _Renamed(ast.NodeTransformer):
    def __init__(self, writer: _Writer) -> None:
        self.writer = writer

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = self.writer.twin_of(node)
        self.generic_visit(node)
        if name is None:
            return node
        counts = ast.Name(_COUNTS, ast.Load())
        return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [counts, *node.args], node.keywords), node)
