"""A lazy query that is collected: one op whose parts are the nodes of its plan, with the copies to the GPU and back."""

from __future__ import annotations

import json
import os
import sys

from .. import _native
from . import metrics, plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Queries of one line that are looked into; later ones of as many rows are taken as the last of these.
_LOOKED_INTO = 16
#: What a node of the streaming engine does, by the first words of its name; the longest that fits.
_VERBS = {
    "equi-join": "join",
    "semi-join": "join",
    "anti-join": "join",
    "cross-join": "join",
    "asof-join": "join",
    "merge-join": "join",
    "range-join": "join",
    "group-by": "group_by",
    "sorted-group-by": "group_by",
    "dynamic-group-by": "group_by",
    "rolling-group-by": "group_by",
    "filter": "filter",
    "sort": "sort",
    "top-k": "top_k",
    "select": "map",
    "with-columns": "map",
    "map": "map",
    "in-memory-map": "map",
    "scalar-window": "group_by",
    "rolling": "rolling",
    "reduce": "fold",
    "union": "concat",
    "unordered-union": "concat",
    "zip": "concat",
    "multi-scan[csv]": "read_csv",
    "multi-scan[ndjson]": "read_json",
    "multi-scan": "read_parquet",
    "io-sink[single-file[csv]]": "write_text",
    "io-sink": "write_parquet",
    "columnar-function": "map",
    "cum-agg": "scan",
    "unique": "distinct",
}
#: Nodes of the plan alone, where the engine tells nothing.
_OF_PLAN = {
    "Join": "join",
    "GroupBy": "group_by",
    "Filter": "filter",
    "Sort": "sort",
    "Distinct": "distinct",
    "Select": "map",
    "HStack": "map",
    "MapFunction": "map",
    "Union": "concat",
    "HConcat": "concat",
    "Scan": "read_parquet",
    "Sink": "write_parquet",
    "MergeSorted": "sort",
    "Reduce": "fold",
}
_KIND_OF = {
    "join": "Join",
    "group_by": "GroupBy",
    "filter": "Filter",
    "sort": "Sort",
    "top_k": "Sort",
    "distinct": "Distinct",
    "read_csv": "Scan",
    "read_parquet": "Scan",
    "read_json": "Scan",
    "map": "HStack",
}
_SOURCES = ("in-memory-source",)


class State:
    """What one process knows of queries."""

    host: frozenset[str] = frozenset()
    #: By line: how many queries were looked into, and the op of the last.
    lines: dict[tuple[str, int], tuple[int, dict[str, Any]]] = {}


class Begun:
    """What is known of a query before it runs."""

    def __init__(self, line: tuple[str, int], plan: plan.Plan | None, listening: metrics.Listening | None) -> None:
        self.line, self.plan, self.listening = line, plan, listening


def begins(args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Begun | None:
    """A query is about to be collected."""
    line = _line()
    seen = State.lines.get(line)
    if seen is not None and seen[0] >= _LOOKED_INTO:
        return Begun(line, None, None)
    engine = (kwargs or {}).get("engine", "auto")
    given = args[0] if args else (kwargs or {}).get("lazy_frames", ())
    found = plan.of(given if isinstance(given, list | tuple) else [given], State.host)
    listens = found is not None and not found.python and engine in ("auto", "streaming") and metrics.may_listen()
    return Begun(line, found, metrics.Listening() if listens else None)


def ended(
    name: str, token: int, args: tuple[Any, ...], kwargs: dict[str, Any] | None, result: Any, begun: Begun | None
) -> None:
    """It has run, or raised: `token` is 0 then."""
    told = begun.listening.end() if begun is not None and begun.listening is not None else []
    if begun is None or token == 0:
        return
    if begun.listening is not None:
        metrics.Tells.works = bool(told) or bool(metrics.Tells.works)
    count, words = State.lines.get(begun.line, (0, {}))
    stays = words.get("stays")
    if count < _LOOKED_INTO:
        op, stays = _op(begun.plan, told, result)
        words = {"op": json.dumps(op), "stays": stays}
        State.lines[begun.line] = count + 1, words
    full = f"polars.{name}"
    _native.leave(token, (), None, {"op": words["op"]}, 0, f"{full}({stays})" if stays else None)


def _line() -> tuple[str, int]:
    frame: Any = sys._getframe(2)
    while frame is not None and "breakeven" in frame.f_code.co_filename:
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)


def _op(found: plan.Plan | None, told: list[metrics.Node], result: Any) -> tuple[dict[str, Any], str | None]:
    """The op of a query as the workload format has it, and what of it the GPU engine lacks."""
    rows, back = getattr(result, "height", 0), _bytes(result)
    if found is None:
        _native.unseen("polars-plan", "the plan of a Polars query could not be read: it counts as not understood")
        return {"op": "opaque", "dtype": "f64"}, None
    if found.lacks is not None:
        return {"op": "host_only", "dtype": "f64"}, found.lacks
    parts = _told_parts(found, told) if told else _plan_parts(found, rows)
    copied = sum(node.rows * node.width for node in found.nodes if node.rows is not None)
    copied += sum(_size(node.path) for node in found.nodes if node.path is not None)
    parts = [_copy("h2d", copied), *parts, _copy("d2h", back)]
    kept = [part for part in parts if part is not None]
    read = sum(part.get("read_bytes", 0) for part in kept)
    return {"op": {"routine": {"parts": kept}}, "dtype": "f64", "read": int(read), "written": int(back)}, None


def _told_parts(found: plan.Plan, told: list[metrics.Node]) -> list[dict[str, Any] | None]:
    """The nodes that the engine ran; their widths are those of the plan's nodes of that kind, in their order."""
    left = list(found.nodes)
    widest = max((node.width for node in found.nodes), default=8.0)
    smallest = min((node.rows for node in found.nodes if node.rows), default=0)
    parts: list[dict[str, Any] | None] = []
    for name, _, received, sent in told:
        verb = _verb(name)
        if verb is None:
            continue
        kinds = ("Select", "HStack") if verb == "map" else (_KIND_OF.get(verb, ""),)
        node = next((node for node in left if node.kind in kinds), None)
        if node is not None:
            left.remove(node)
        width, columns, keys = (node.width, node.columns, node.keys) if node is not None else (widest, 1, 1)
        wide = max(widest if verb in ("join", "group_by") else width, 1.0)
        parts.append(_part(verb, received, columns, sent, keys, (wide, width), smallest))
    return parts


def _plan_parts(found: plan.Plan, out_rows: int) -> list[dict[str, Any] | None]:
    """The nodes of the plan alone: rows between them are those of the largest input."""
    inputs = [node.rows for node in found.nodes if node.rows is not None]
    rows = max(inputs, default=out_rows)
    _native.unseen(
        "polars-rows", "rows between the nodes of a Polars query are not known: taken as those of its inputs"
    )
    parts: list[dict[str, Any] | None] = []
    for place, node in enumerate(found.nodes):
        verb = _OF_PLAN.get(node.kind)
        if verb is not None:
            parts.append(
                _part(verb, rows, node.columns, out_rows if place == 0 else rows, node.keys, (node.width,) * 2)
            )
    return parts


def _part(
    verb: str, rows: int, columns: int, out: int, keys: int, widths: tuple[float, float], smaller: int = 0
) -> dict[str, Any]:
    frame: dict[str, Any] = {"kind": verb, "rows": rows, "columns": columns, "out_rows": out, "keys": max(keys, 1)}
    if verb == "join":
        # Both sides are received together; the engine builds its table of the smaller.
        other = smaller if 0 < smaller < rows else rows // 2
        frame |= {"rows": rows - other, "other_rows": other}
    read = out if verb.startswith("read_") else rows
    bytes = int(read * widths[0]), int(out * widths[1])
    return {"op": {"dataframe": frame}, "dtype": "f64", "count": 1, "read_bytes": bytes[0], "written_bytes": bytes[1]}


def _copy(direction: str, bytes: float) -> dict[str, Any] | None:
    if bytes <= 0:
        return None
    return {"op": {"transfer": {"direction": direction, "bytes": int(bytes)}}, "dtype": "u8", "count": 1}


def _verb(name: str) -> str | None:
    fits = [word for word in _VERBS if name.startswith(word)]
    return _VERBS[max(fits, key=len)] if fits else None


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _bytes(result: Any) -> int:
    if isinstance(result, list):
        return sum(map(_bytes, result))
    size = getattr(result, "estimated_size", None)
    return int(size()) if size is not None else 0
