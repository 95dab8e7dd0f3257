"""Functions that graphs call, by name."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

#: Operations that call a function once.
CALLS = ("PartitionedCall", "StatefulPartitionedCall")
#: Functions within functions are followed so deep.
_DEEPEST = 10


def graph_named(graph: Any, name: str) -> Any:
    """The FuncGraph that a function of this name was traced into; None where it is not known."""
    while graph is not None:
        function = graph._get_function(name) if hasattr(graph, "_get_function") else None
        if function is not None and getattr(function, "graph", None) is not None:
            return function.graph
        graph = getattr(graph, "outer_graph", None)
    return None


def with_called(graph: Any, depth: int = 0) -> Iterator[Any]:
    """A graph, and those of the functions that it calls, as often as it does."""
    yield graph
    for op in graph.get_operations():
        if op.type in CALLS and depth < _DEEPEST:
            inner = graph_named(graph, op.get_attr("f").name)
            if inner is not None:
                yield from with_called(inner, depth + 1)


def called(op: Any, attribute: str) -> Any:
    """The FuncGraph of an operation's attribute: a body, a condition."""
    return graph_named(op.graph, op.get_attr(attribute).name)
