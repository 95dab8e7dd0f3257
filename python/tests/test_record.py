"""`record()` and `@profile` inside a program."""

from __future__ import annotations

import asyncio
import gzip
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import breakeven

pytestmark = pytest.mark.usefixtures("native")


def counts(work: breakeven.Recording) -> dict[str, int]:
    """How often each op ran."""
    found: dict[str, int] = {}
    for entry in work.to_dict()["ops"]:
        found[entry["name"]] = found.get(entry["name"], 0) + entry["count"]
    return found


def test_a_block_records_what_runs_inside_it() -> None:
    a = np.ones((100, 100))
    a @ a
    with breakeven.record() as work:
        a @ a
        a @ a
    a @ a
    assert counts(work)["numpy.matmul"] == 2
    assert work.to_dict()["program"]["wall_ns"] > 0


def test_only_a_block_that_raises_is_said_to_have_ended_otherwise() -> None:
    a = np.ones((100, 100))
    with breakeven.record() as outer:
        a @ a
        with breakeven.record() as inner:
            a @ a
    with pytest.raises(ZeroDivisionError):
        with breakeven.record() as failed:
            a @ a
            1 / 0
    notes = [{note["code"] for note in work.estimate("l4").to_dict()["notes"]} for work in (outer, inner, failed)]
    assert ["script-cut" in codes for codes in notes] == [False, False, True]


def test_a_second_block_begins_anew() -> None:
    a = np.ones(10)
    for times in (3, 5):
        with breakeven.record() as work:
            for _ in range(times):
                a + a
        assert counts(work) == {"numpy.add": times}


def test_blocks_nest() -> None:
    a = np.ones(10)
    with breakeven.record() as outer:
        a + a
        with breakeven.record() as inner:
            a + a
            a * a
        a + a
    assert counts(inner) == {"numpy.add": 1, "numpy.multiply": 1}
    assert counts(outer) == {"numpy.add": 3, "numpy.multiply": 1}


def test_a_block_that_raises_is_recorded_and_raises() -> None:
    with pytest.raises(ZeroDivisionError):
        with breakeven.record() as work:
            np.ones(3) + 1
            1 / 0
    assert counts(work)["numpy.add"] == 1


def test_profile_keeps_the_latest_call() -> None:
    @breakeven.profile
    def twice(a: Any, b: int = 1) -> Any:
        """Doc."""
        return a * 2 + b

    assert twice(np.ones(2), b=3).tolist() == [5.0, 5.0]
    assert (twice.__name__, twice.__doc__) == ("twice", "Doc.")
    assert counts(twice.recording)["numpy.multiply"] == 1  # type: ignore[attr-defined]


def multiplied(function: Any) -> int:
    """Products that the latest recording of a profiled function holds."""
    return counts(function.recording).get("numpy.multiply", 0)


def test_profile_lasts_as_long_as_what_it_calls() -> None:
    @breakeven.profile
    def items(a: Any) -> Any:
        while True:
            try:
                a = a * (yield a.sum())
            except KeyError:
                return "end"

    @breakeven.profile
    async def later(a: Any) -> Any:
        await asyncio.sleep(0)
        return a * 2

    steps = items(np.ones(3))
    assert next(steps) == 3 and [steps.send(2.0) for _ in range(3)] == [6, 12, 24]
    with pytest.raises(StopIteration, match="end"):
        steps.throw(KeyError)
    assert multiplied(items) == 3
    assert asyncio.run(later(np.ones(2))).tolist() == [2, 2]
    assert multiplied(later) == 1
    assert inspect.iscoroutinefunction(later) and inspect.isgeneratorfunction(items)
    with pytest.raises(TypeError, match="asynchronous generator"):

        @breakeven.profile
        async def both() -> Any:
            yield 1


def test_profile_of_methods_and_of_calls_within_calls() -> None:
    class Model:
        @breakeven.profile
        def own(self, a: Any) -> Any:
            return a * 2

        @breakeven.profile
        @staticmethod
        def plain(a: Any) -> Any:
            return a * 2

        @breakeven.profile
        @classmethod
        def of_class(cls, a: Any) -> Any:
            return cls, a * 2

    @breakeven.profile
    def power(a: Any, n: int) -> Any:
        return a if n == 0 else a * power(a, n - 1)

    @breakeven.profile
    def fails(a: Any) -> None:
        a * 2
        raise KeyError

    a = np.ones(2)
    assert Model().own(a).tolist() == Model().plain(a).tolist() == [2, 2]
    assert Model.of_class(a)[0] is Model
    assert multiplied(Model.own) == multiplied(Model.plain) == multiplied(Model.of_class) == 1
    power(a, 5)
    assert multiplied(power) == 5, "of the outermost call, which ends last"
    with pytest.raises(KeyError):
        fails(a)
    assert multiplied(fails) == 1


def test_an_estimate_of_a_recording() -> None:
    a = np.ones((1000, 1000))
    with breakeven.record() as work:
        for _ in range(3):
            a = a @ a / 1000
    answer = work.estimate("h100-sxm")
    assert answer.to_dict()["workload"]["flop"] >= 3 * 2e9
    assert len(answer.to_dict()["estimates"]) == 1
    with pytest.raises(breakeven.UnknownNameError):
        work.estimate("no such card")


def test_a_saved_recording_is_a_workload(tmp_path: Path) -> None:
    with breakeven.record() as work:
        np.ones(5).sum()
    work.save(tmp_path / "w.breakeven.json")
    assert json.loads((tmp_path / "w.breakeven.json").read_text())["format"] == "breakeven.workload/1"
    work.save(tmp_path / "w.breakeven.json.gz")
    assert json.loads(gzip.decompress((tmp_path / "w.breakeven.json.gz").read_bytes())) == work.to_dict()
    assert {path.name for path in tmp_path.iterdir()} == {"w.breakeven.json", "w.breakeven.json.gz"}


def test_before_the_end_there_is_no_workload() -> None:
    with breakeven.record() as work:
        with pytest.raises(RuntimeError, match="has not ended"):
            work.to_dict()


def test_numpy_may_be_imported_inside() -> None:
    source = """import breakeven
with breakeven.record() as work:
    import numpy as np
    np.ones(3) * 2.0
print(sorted(entry["name"] for entry in work.to_dict()["ops"]))"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert "numpy.multiply" in done.stdout, done.stderr
