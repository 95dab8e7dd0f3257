"""Scripts of DuckDB's: they do what they do unrecorded; each query is time of the host at its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from frames_running import Run, line_of, once

pytest.importorskip("duckdb")
pytest.importorskip("pandas")
SCRIPTS = Path(__file__).parent / "scripts"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    return once(SCRIPTS, tmp_path_factory)


def test_a_recorded_script_does_what_it_does(run: Callable[[str], Run]) -> None:
    assert run("queries").seen == run("queries").plain
    assert run("queries").plain[0] == 0


def test_each_query_is_an_op_at_its_line(run: Callable[[str], Run]) -> None:
    seen = run("queries").by_line()
    for text in ("top = ", "create table", "count(*) c", "from frame\").fetch"):
        line = line_of(SCRIPTS / "queries.py", text)
        assert "duckdb.query" in seen[line], (line, seen[line])


def test_queries_are_understood_as_the_host_s(run: Callable[[str], Run]) -> None:
    ops = [entry["op"] for entry in run("queries").workload["ops"] if entry["name"] == "duckdb.query"]
    assert ops and set(ops) == {"host_only"}
    assert run("queries").understood() >= 0.95
