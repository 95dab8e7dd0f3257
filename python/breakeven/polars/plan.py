"""The optimised plan of a query, by the walker that cudf-polars itself uses; it needs no GPU."""

from __future__ import annotations

import sys

from .. import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

#: Versions of the walker that were looked at: the first number changes where a node does.
_KNOWN = range(1, 100)
#: Attributes of an expression in which others stand.
_INNER = (
    "arguments",
    "by",
    "expr",
    "falsy",
    "function",
    "idx",
    "input",
    "left",
    "length",
    "offset",
    "order_by",
    "partition_by",
    "predicate",
    "right",
    "truthy",
)
#: Bytes of a value by its type's name; text and what is nested is sampled where a frame holds it.
_WIDTHS = {
    **dict.fromkeys(("Int8", "UInt8", "Boolean"), 1),
    **dict.fromkeys(("Int16", "UInt16"), 2),
    **dict.fromkeys(("Int32", "UInt32", "Float32", "Date", "Categorical", "Enum"), 4),
    **dict.fromkeys(("Binary", "List", "Struct"), 32),
    "String": 16,
}
#: Functions of the script's.
PYTHON = "python"


class Node:
    """One node: its kind, bytes of a row of what it gives, columns, keys, rows where it holds a frame."""

    def __init__(self, kind: str, width: float, columns: int, keys: int, rows: int | None, path: str | None) -> None:
        self.kind, self.width, self.columns, self.keys, self.rows, self.path = kind, width, columns, keys, rows, path


class Plan:
    """All nodes, the root first, and why the GPU engine would send the query back."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.lacks: str | None = None
        self.python = False


def of(frames: Sequence[Any], host: frozenset[str]) -> Plan | None:
    """The plan of lazy frames that are collected together; None where this version has no walker. `host`: names that
    are not translated."""
    try:
        options = sys.modules["polars"].QueryOptFlags()._pyoptflags
        plan = Plan()
        for lazy in frames:
            walker = lazy._ldf.with_optimizations(options).visit()
            if walker.version()[0] not in _KNOWN:
                return None
            _walk(walker, plan, host, 0)
        return plan
    except Exception:
        return None


def _walk(walker: Any, plan: Plan, host: frozenset[str], depth: int) -> None:
    here = walker.get_node()
    node = walker.view_current_node()
    kind = type(node).__name__
    inputs = walker.get_inputs()
    if f"polars.ir.{kind}" in host:
        plan.lacks = plan.lacks or kind
    try:
        schema = walker.get_schema()
        for expression in walker.get_exprs():
            _expression(walker, expression.node, plan, host)
    except Exception:
        # What the walker does not show is not translated either; it may be a function of the script's.
        schema, plan.python = {}, True
        plan.lacks = plan.lacks or PYTHON
    width = sum(width_of(dtype) for dtype in schema.values())
    keys = len(
        getattr(node, "keys", None) or getattr(node, "left_on", None) or getattr(node, "by_column", None) or (0,)
    )
    rows = path = None
    if kind == "DataFrameScan":
        rows = node.df.height()
    elif kind == "Scan":
        paths = getattr(node, "paths", None)
        path = str(paths[0]) if paths else None
    plan.nodes.append(Node(kind, width, len(schema), keys, rows, path))
    if depth < 200:
        for child in inputs:
            walker.set_node(child)
            _walk(walker, plan, host, depth + 1)
        walker.set_node(here)


def _expression(walker: Any, number: int, plan: Plan, host: frozenset[str]) -> None:
    waiting = [number]
    seen = 0
    while waiting and seen < 2000:
        seen += 1
        expression = walker.view_expression(waiting.pop())
        kind = type(expression).__name__
        name = f"polars.expression.{kind}"
        if kind == "Function":
            function = expression.function_data[0]
            text = str(function)
            if text.startswith("python") or "udf" in text.lower() or "anonymous" in text.lower():
                plan.python = True
                plan.lacks = plan.lacks or PYTHON
            name = f"polars.function.{text}"
        if name in host:
            plan.lacks = plan.lacks or name.split(".", 2)[2]
        for word in _INNER:
            inner = getattr(expression, word, None)
            for one in inner if isinstance(inner, list | tuple) else (inner,):
                if type(one) is int:
                    waiting.append(one)


def width_of(dtype: Any) -> float:
    """Bytes of a value of this type."""
    return _WIDTHS.get(type(dtype).__name__ if not isinstance(dtype, type) else dtype.__name__, 8)


def untranslated() -> frozenset[str]:
    """Names of nodes and functions that cudf-polars does not translate."""
    return frozenset(name for name, _, place in _native.callables("polars") if place == "host" and "(" not in name)
