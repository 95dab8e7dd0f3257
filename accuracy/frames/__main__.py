"""Writes the tables of data frames: which names pandas and Polars have, and what cuDF and cudf-polars do with each.

    python accuracy/frames CUDF_WHEEL CUDF_POLARS_WHEEL crates/breakeven

The wheels unpacked; pandas and Polars are those of this Python. `cudf.pandas` has no list of its own: it calls the method
of cuDF of the same name and goes back to pandas on any exception. So the list is what cuDF's classes define, less the
parameters they lack (TypeError) and what raises NotImplementedError.
"""

from __future__ import annotations

import csv
import inspect
import pathlib
import re
import sys
from collections.abc import Iterator

import pandas as pd
import pandas_names
import polars_names
from classes import Method, Wheel, method

Row = tuple[str, ...]

#: Functions of pandas that `cudf` does not export and cuDF's proxies run all the same: by methods of theirs, or as
#: pandas' own code over proxies.
_RUN_BY_METHODS = {"isna": "isna", "isnull": "isna", "notna": "notna", "notnull": "notna"}
#: Methods that only call the function of their name.
_BY_FUNCTION = ("melt", "pivot", "pivot_table")
#: What is passed as a parameter of cuDF's own name by place: no refusal.
_OTHER_NAMES = {"func", "data", "value", "path", "other", "kwargs", "args"}
_REFUSES = re.compile(r"^(?:not )?(\w+)(?: (?:is not|is|!=|==|not in|in) .*)?$")


def main(cudf: str, cudf_polars: str, engine: str) -> None:
    wheel = Wheel(pathlib.Path(cudf) / "cudf")
    callables: list[Row] = []
    ports: list[Row] = []
    for owner, name, value, theirs in pandas_names.methods():
        verb = pandas_names.rule(owner, name)
        full = f"pandas.{owner}.{name}" if owner else f"pandas.{name}"
        has = _of_cudf(wheel, owner, theirs, name)
        callables.append((full, verb, "atomic"))
        ports.append(_port(full, verb, has, pandas_names.WAITS))
        if has is not None and ports[-1][1] == "device":
            for parameter, why in _refused(has, value):
                callables.append((f"{full}({parameter})", verb, "atomic"))
                ports.append((f"{full}({parameter})", "host", why))
        if pandas_names.takes_function(name, value) and verb.startswith("frame"):
            callables.append((f"{full}(function)", verb, "atomic"))
            ports.append((f"{full}(function)", "host", pandas_names.FUNCTION))
    _write(pathlib.Path(engine) / "callables/pandas.csv", pandas_names.ABOUT_CALLABLES, callables)
    polars = polars_names.rows(pathlib.Path(cudf_polars) / "cudf_polars/dsl")
    queries = [("duckdb.query", "frame:host", "atomic"), *(row[:3] for row in polars)]
    _write(pathlib.Path(engine) / "callables/polars.csv", polars_names.ABOUT, queries)
    ports += [row[3:] for row in polars]
    ports.append(("duckdb.query", "host", "DuckDB has no GPU engine"))
    _write(pathlib.Path(engine) / "ports/cudf.csv", pandas_names.ABOUT_PORTS, ports)


def _of_cudf(wheel: Wheel, owner: str, theirs: str, name: str) -> Method | None:
    if owner:
        if name in pandas_names.OPERATORS and owner in ("DataFrame", "Series", "Index", "MultiIndex"):
            return Method()
        has = wheel.members(theirs).get(name)
        if has is not None and owner in ("DataFrame", "Series") and name in _BY_FUNCTION:
            has.refusals += method(wheel.functions[name]).refusals
        return has
    if name in _RUN_BY_METHODS:
        return Method()
    if name not in wheel.exported and name not in pandas_names.CLASSES:
        return None
    node = wheel.functions.get(name)
    return method(node) if node is not None and name not in ("merge", "concat") else Method()


def _port(full: str, verb: str, has: Method | None, waits: set[str]) -> Row:
    own = full.replace("pandas.", "cudf.", 1)
    if verb == "none":
        return (full, "view", own)
    if verb == "frame:host":
        return (full, "host", pandas_names.HOST.get(full.split(".")[-1], "made of what the host has"))
    if verb == "composite":
        return (full, "view", own)
    if has is None:
        return (full, "host", f"cuDF 26.10 has no {full.removeprefix('pandas.')}: cudf.pandas copies and runs pandas")
    if "" in has.refusals:
        return (full, "host", f"cuDF 26.10 raises NotImplementedError in {full.removeprefix('pandas.')}")
    if verb == "frame:view":
        return (full, "view", own)
    return (full, "device", own, "", "waits") if verb in waits else (full, "device", own)


def _refused(has: Method, value: object) -> Iterator[tuple[str, str]]:
    """Parameters of pandas that cuDF lacks, or refuses but as they are by default."""
    try:
        parameters = [name for name in inspect.signature(value).parameters if name != "self"]  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return
    if getattr(value, "__name__", "").startswith("__"):
        return
    named = [name for name in parameters if name not in _OTHER_NAMES]
    lacks = set() if has.takes_more or has.property else {name for name in named if name not in has.parameters}
    refuses = {found[1] for text in has.refusals if (found := _REFUSES.match(text))} & set(named)
    for name in named:
        if name in lacks:
            yield name, f"cuDF 26.10 has no parameter {name} here"
        elif name in refuses:
            yield name, f"cuDF 26.10 takes {name} as it is by default alone"


def _write(path: pathlib.Path, about: str, rows: list[Row]) -> None:
    with open(path, "w", newline="") as file:
        file.writelines(f"# {line}\n" for line in about.strip().splitlines())
        seen = {row[0]: row for row in rows}
        csv.writer(file, lineterminator="\n").writerows(seen[name] for name in sorted(seen))


if __name__ == "__main__":
    main(*sys.argv[1:])
