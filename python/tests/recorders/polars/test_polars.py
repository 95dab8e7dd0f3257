"""Scripts of Polars': they do what they do unrecorded; a query is one op of its nodes at its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from breakeven import _native
from frames_running import Run, line_of, once

polars = pytest.importorskip("polars")
SCRIPTS = Path(__file__).parent / "scripts"
TWO = int(polars.__version__.split(".")[0]) >= 2

SEEN = {
    "lazy": [("print(query.collect()", "polars.LazyFrame.collect"), ("windows.collect", "polars.LazyFrame.collect")],
    "eager": [("frame.unique", "polars.DataFrame.unique"), ("grouped = ", "polars.DataFrame.sort")],
    "files": [
        ("scan_csv", "polars.LazyFrame.collect"),
        ("sink_csv", "polars.LazyFrame.sink_csv"),
        ("pl.read_csv", "polars.read_csv"),
        ("frame.write_parquet", "polars.DataFrame.write_parquet"),
    ],
    "streaming": [("collect_all", "polars.collect_all"), ("total +=", "polars.LazyFrame.collect")],
    "functions": [("map_batches", "polars.LazyFrame.collect(python)")],
    "texts": [
        ("str.contains", "polars.LazyFrame.collect"),
        ("str.split", "polars.LazyFrame.collect(StringFunction.Split)"),
        ("dated.collect", "polars.LazyFrame.collect(TemporalFunction.OffsetBy)"),
    ],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    return once(SCRIPTS, tmp_path_factory)


@pytest.mark.parametrize("name", SEEN)
def test_a_recorded_script_does_what_it_does(name: str, run: Callable[[str], Run]) -> None:
    assert run(name).seen == run(name).plain
    assert run(name).plain[0] == 0


@pytest.mark.parametrize("name", SEEN)
def test_each_call_is_an_op_at_its_line(name: str, run: Callable[[str], Run]) -> None:
    seen = run(name).by_line()
    for text, op in SEEN[name]:
        line = line_of(SCRIPTS / f"{name}.py", text)
        assert op in seen[line], (line, seen[line])


@pytest.mark.parametrize("name", SEEN)
def test_nearly_all_time_in_calls_is_understood(name: str, run: Callable[[str], Run]) -> None:
    assert run(name).understood() >= 0.95
    assert not [row for row in run(name).workload.get("unseen", []) if row["reason"] == "hook-failed"]


def _parts(run: Run, text: str, script: str) -> list[dict[str, Any]]:
    line = line_of(SCRIPTS / f"{script}.py", text)
    entries = [entry for entry in run.workload["ops"] if run.workload["sites"][entry["site"]]["line"] == line]
    return [part["op"] for entry in entries if "routine" in entry["op"] for part in entry["op"]["routine"]["parts"]]


@pytest.mark.skipif(not TWO, reason="rows between nodes are told since Polars 2")
def test_nodes_have_their_rows(run: Callable[[str], Run]) -> None:
    frames = [op["dataframe"] for op in _parts(run("lazy"), "print(query.collect()", "lazy") if "dataframe" in op]
    kinds = {frame["kind"]: frame for frame in frames}
    assert kinds["filter"]["rows"] == 200_000 and 140_000 < kinds["filter"]["out_rows"] < 160_000
    assert kinds["group_by"]["out_rows"] == 9
    assert kinds["join"]["rows"] + kinds["join"]["other_rows"] == kinds["filter"]["out_rows"] + 1000


def test_a_query_copies_its_frames_to_the_gpu_and_its_result_back(run: Callable[[str], Run]) -> None:
    copies = [op["transfer"] for op in _parts(run("lazy"), "print(query.collect()", "lazy") if "transfer" in op]
    assert [copy["direction"] for copy in copies] == ["h2d", "d2h"]
    assert copies[0]["bytes"] == 200_000 * 24 + 1000 * 16


def test_the_report_says_which_polars_it_takes(run: Callable[[str], Run]) -> None:
    notes = {note["code"]: note["text"] for note in run("lazy").answer()["notes"]}
    assert 'collect(engine="gpu")' in notes["polars-gpu"]
    assert ("below 1.45" in notes["polars-gpu"]) == TWO


def test_what_the_engine_tells_is_read_and_the_rest_passed_on() -> None:
    from breakeven.polars import metrics

    text = (
        "mine\nStreaming query took 1.00ms (2.00ms CPU), detailed breakdown:\n"
        "group-by: tot(1.50µs), poll(1µs), recv(row=50, morsel=2), sent(row=7, morsel=1)\n\nyours"
    )
    assert metrics.parse(text) == ([("group-by", 1500.0, 50, 7)], "mine\nyours")


def test_every_public_name_is_listed() -> None:
    listed = {name for name, _, _ in _native.callables("polars")}
    owners = {
        "DataFrame": polars.DataFrame,
        "Series": polars.Series,
        "LazyFrame": polars.LazyFrame,
        "Expr": polars.Expr,
    }
    missing = [
        f"polars.{owner}.{name}"
        for owner, cls in owners.items()
        for name in dir(cls)
        if not name.startswith("_") and f"polars.{owner}.{name}" not in listed
    ]
    assert tuple(map(int, polars.__version__.split(".")[:2])) > (2, 1) or not missing
