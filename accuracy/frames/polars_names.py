"""The public names of Polars that tables list, and which of them cudf-polars translates."""

from __future__ import annotations

import ast
import inspect
import pathlib
import re
import types

import polars as pl
from polars._plr import _expr_nodes, _ir_nodes
from verbs import rule

ABOUT = """\
Polars 2.1.0: name, rule, atomic. polars.ir: nodes of an optimised plan; polars.function: functions of expressions as the
engine names them; the rest are public names. Written by accuracy/frames."""
#: What runs a query.
OPERATORS = (
    "__getitem__ __setitem__ __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __floordiv__ __mod__ __pow__ "
    "__gt__ __lt__ __ge__ __le__ __eq__ __ne__ __and__ __or__ __xor__ __invert__ __neg__"
).split()
RUN = ("collect", "sink_parquet", "sink_csv", "sink_ndjson", "sink_ipc")
EAGER = "a call of its own runs on the CPU: the GPU engine takes lazy queries"
PYTHON = "a Python function, or what the plan does not show, sends the whole query back to the CPU"
LAZY = "part of a lazy query"
_NODES = {
    "Cache": "view",
    "DataFrameScan": "view",
    "Distinct": "frame:distinct",
    "Filter": "frame:filter",
    "GroupBy": "frame:group_by",
    "HConcat": "frame:concat",
    "HStack": "frame:map",
    "Join": "frame:join",
    "MapFunction": "frame:map",
    "MergeSorted": "frame:sort",
    "PythonScan": "frame:host",
    "Reduce": "frame:fold",
    "Scan": "frame:read_parquet",
    "Select": "frame:map",
    "SimpleProjection": "frame:view",
    "Sink": "frame:write_parquet",
    "Slice": "frame:view",
    "Sort": "frame:sort",
    "Union": "frame:concat",
}
_ENUMS = ("StringFunction", "TemporalFunction", "BooleanFunction", "StructFunction")
_FILES = {"StringFunction": "string", "TemporalFunction": "datetime", "StructFunction": "struct"}
_GROUPS = {
    "str": pl.Expr.str,
    "dt": pl.Expr.dt,
    "list": pl.Expr.list,
    "struct": pl.Expr.struct,
    "cat": pl.Expr.cat,
    "arr": pl.Expr.arr,
    "bin": pl.Expr.bin,
    "name": pl.Expr.name,
}


def rows(dsl: pathlib.Path) -> list[tuple[str, ...]]:
    """(name, rule, atomic, name, where, text) of each."""
    translate = (dsl / "translate.py").read_text()
    found: list[tuple[str, ...]] = []

    def add(name: str, verb: str, where: str, text: str) -> None:
        found.append((name, verb, "atomic", name, where, text))

    for node in _public(_ir_nodes):
        verb = _NODES.get(node, "frame:map")
        verb = "frame:view" if verb == "view" else verb
        known = f"_ir_nodes.{node}," in translate and node != "PythonScan"
        where = "view" if verb == "frame:view" else "device"
        add(f"polars.ir.{node}", verb, where if known else "host", f"cudf_polars.{node}" if known else _lacks(node))
    for enum in _ENUMS:
        valid = _valid(dsl, enum)
        for name in _public(getattr(_expr_nodes, enum)):
            known = valid is None or name in valid
            add(f"polars.function.{enum}.{name}", "none", *_where(known, f"{enum}.{name}"))
    supported = _strings(dsl / "expressions/unary.py") | _strings(dsl / "expressions/aggregation.py")
    for name in sorted(supported):
        add(f"polars.function.{name}", "none", "device", f"cudf_polars {name}")
    for kind in _public(_expr_nodes):
        if kind not in _ENUMS and not kind.endswith("Options"):
            known = f"_expr_nodes.{kind}" in translate
            add(f"polars.expression.{kind}", "none", *_where(known, kind))
    for owner, cls in (("DataFrame", pl.DataFrame), ("Series", pl.Series)):
        add(f"polars.{owner}", "frame:host", "host", "made of what the host has")
        for name in (*_public(cls), *OPERATORS):
            verb = rule(owner, _EAGER_NAMES.get(name, name))
            add(f"polars.{owner}.{name}", verb, *(("view", LAZY) if verb in ("none", "composite") else ("host", EAGER)))
    untranslated = [
        row[0].split(".", 2)[2]
        for row in found
        if row[4] == "host" and row[0].startswith(("polars.ir.", "polars.f", "polars.ex"))
    ]
    for name in _public(pl.LazyFrame):
        if name not in RUN:
            add(f"polars.LazyFrame.{name}", "composite" if name.startswith("collect_") else "none", "view", LAZY)
            continue
        add(f"polars.LazyFrame.{name}", "told", "device", "cudf_polars")
        add(f"polars.LazyFrame.{name}(python)", "told", "host", PYTHON)
        for what in untranslated:
            add(f"polars.LazyFrame.{name}({what})", "told", "host", _lacks(what))
    for name in _public(pl.Expr):
        add(f"polars.Expr.{name}", "none", "view", LAZY)
    for group, cls in _GROUPS.items():
        for name in _public(cls):
            add(f"polars.Expr.{group}.{name}", "none", "view", LAZY)
    for name in dir(pl):
        value = getattr(pl, name)
        if name == "collect_all":
            add("polars.collect_all", "told", "device", "cudf_polars")
            for what in ("python", *untranslated):
                add(f"polars.collect_all({what})", "told", "host", PYTHON if what == "python" else _lacks(what))
        elif isinstance(value, types.FunctionType) and not name.startswith("_"):
            reads = name.startswith("read_")
            verb = rule("", name) if reads else "none"
            add(f"polars.{name}", verb, *(("host", EAGER) if reads else ("view", LAZY)))
    return found


_EAGER_NAMES = {
    "sort": "sort_values",
    "group_by": "groupby",
    "with_columns": "map_",
    "n_unique": "nunique",
    "unpivot": "melt",
    "top_k": "nlargest",
    "bottom_k": "nsmallest",
    "write_csv": "to_csv",
    "write_parquet": "to_parquet",
    "write_json": "to_json",
    "write_ndjson": "to_json",
    "write_ipc": "to_feather",
    "vstack": "concat",
    "hstack": "concat",
    "extend": "concat",
    "join_asof": "merge_asof",
    "gather": "take",
    "to_dummies": "get_dummies",
    "lazy": "keys",
    "rows": "to_list",
    "row": "to_list",
    "iter_rows": "to_list",
    "to_pandas": "to_numpy",
    "to_arrow": "to_numpy",
    "to_torch": "to_numpy",
    "to_jax": "to_numpy",
    "clone": "copy",
    "select": "map_",
    "drop_nulls": "dropna",
    "schema": "columns",
    "height": "size",
    "width": "size",
    "get_columns": "columns",
    "get_column": "columns",
    "estimated_size": "nbytes",
    "rechunk": "copy",
    "partition_by": "get_group",
    "glimpse": "info",
    "serialize": "to_pickle",
}


def _public(of: object) -> list[str]:
    return [name for name in dir(of) if not name.startswith("_")]


def _lacks(what: str) -> str:
    return f"cudf-polars 26.10 does not translate {what}: the whole query goes back to the CPU"


def _where(known: bool, name: str) -> tuple[str, str]:
    return ("device", f"cudf_polars {name}") if known else ("host", _lacks(name))


def _valid(dsl: pathlib.Path, enum: str) -> set[str] | None:
    """Members that the constructor takes; all of them where it has no list."""
    if enum not in _FILES:
        return None
    source = (dsl / f"expressions/{_FILES[enum]}.py").read_text()
    block = re.search(r"_valid_ops: ClassVar\[set\[Name\]\] = \{(.*?)\n    \}", source, re.S)
    if block is None:
        return None
    named = set(re.findall(r"Name\.(\w+)", block[1]))
    for table in re.findall(r"\*(_\w+)\.keys\(\)", block[1]):
        body = re.search(rf"{table}[^=]*= \{{(.*?)\n    \}}", source, re.S)
        named |= set(re.findall(r"Name\.(\w+)", body[1])) if body else set()
    return named


def _strings(path: pathlib.Path) -> set[str]:
    """Names in the sets and tables of supported functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(re.search("SUPPORTED|_supported|_OP_MAPPING", ast.unparse(target)) for target in targets) and node.value:
            names |= {
                item.value
                for item in ast.walk(node.value)
                if isinstance(item, ast.Constant) and isinstance(item.value, str)
            }
    return names
