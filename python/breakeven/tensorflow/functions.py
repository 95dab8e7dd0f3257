"""Functions that graphs call, by name."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def graph_named(graph: Any, name: str) -> Any:
    """The FuncGraph that a function of this name was traced into; None where it is not known."""
    while graph is not None:
        function = graph._get_function(name) if hasattr(graph, "_get_function") else None
        if function is not None and getattr(function, "graph", None) is not None:
            return function.graph
        graph = getattr(graph, "outer_graph", None)
    return None


def called(op: Any, attribute: str) -> Any:
    """The FuncGraph of an operation's attribute: a body, a condition."""
    return graph_named(op.graph, op.get_attr(attribute).name)
