"""What the stand-in for CuPy counts as launched, beside what CuPy launched on an H100."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from cupy_running import record

from breakeven import _native

MEASURED = Path(__file__).parents[2] / "accuracy" / "measured" / "h100-sxm-cupy-launches.csv"
#: Expressions of which other counts are known to come out: `counted,expression`, or whatever number where none is
#: given.
KNOWN = Path(__file__).with_name("cupy_launches_known.csv")


def measured() -> tuple[list[str], dict[str, int]]:
    """The lines that set up, and the kernels of each expression."""
    lines = MEASURED.read_text().splitlines()
    setup = [line[4:] for line in lines if line.startswith("#   ")]
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return setup, {row["expr"]: int(row["kernels"]) for row in rows}


def launches(workload: dict[str, Any], ops: list[dict[str, Any]]) -> int:
    """What the engine makes of these ops alone."""
    if not ops:
        return 0
    part = {"format": workload["format"], "program": {"name": "part", "wall_ns": 1}, "sites": workload["sites"],
        "ops": ops}
    answer = json.loads(_native.answer(json.dumps({"workload": part, "options": {"gpu": ["h100-sxm5-80gb"]}})))
    assert "error" not in answer, answer
    return int(answer["workload"]["launches"])


def test_launches_are_those_that_were_measured(tmp_path: Path, native: None) -> None:
    pytest.importorskip("scipy")
    setup, kernels = measured()
    lines = ["import numpy as np", "import cupy as cp", *setup]
    for expression in kernels:
        lines += ["try:", f"    {expression}", "except AttributeError:", "    pass"]  # a name that the stand-in has not
    _, workload = record("\n".join(lines), tmp_path)
    by_line: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for entry in workload["ops"]:
        by_line[workload["sites"][entry["site"]]["line"]].append(entry)
    begin = 2 + len(setup) + 2
    counted = {
        expression: launches(workload, by_line[begin + 4 * place]) for place, expression in enumerate(kernels)
    }
    others = {expression: count for expression, count in counted.items() if count != kernels[expression]}
    with KNOWN.open(newline="") as rows:
        known = {expression: count for count, expression in csv.reader(row for row in rows if row[0] != "#")}
    varying = {expression for expression, count in known.items() if not count}
    assert varying <= kernels.keys()
    assert {expression: str(count) for expression, count in others.items() if expression not in varying} == {
        expression: count for expression, count in known.items() if count
    }
    assert len(others) <= len(kernels) // 5


def test_many_small_arrays_are_joined_by_one_kernel(tmp_path: Path, native: None) -> None:
    source = """import cupy as cp
small = [cp.ones(10) for _ in range(9)]; large = 9 * [cp.ones(1 << 18)]; mixed = [cp.ones(10, cp.float32), *small]
cp.stack(small)
cp.concatenate(small[:8])
cp.hstack(large)
cp.concatenate(mixed)
"""
    _, workload = record(source, tmp_path)
    counted = [
        launches(workload, [entry for entry in workload["ops"] if workload["sites"][entry["site"]]["line"] == line])
        for line in (3, 4, 5, 6)
    ]
    assert counted == [1, 8, 9, 10]


def test_a_handler_may_raise_while_launches_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    from breakeven.cupy.core import launches

    def interrupted(*_: object) -> int:
        raise TimeoutError

    monkeypatch.setitem(launches._RULES, "interrupted", interrupted)
    with pytest.raises(TimeoutError):
        launches.counted("cupy.interrupted", (), {})
    assert launches.counted("cupy.matmul", (), {}) == 0
