"""What `breakeven calibrate` measures: each case runs, what is told is JSON, devices that are none are said to be."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

np = pytest.importorskip("numpy")

from breakeven.calibrate import cpu, run  # noqa: E402
from breakeven.calibrate.clock import interval, measured  # noqa: E402


def told(*words: str) -> list[dict]:
    command = [sys.executable, "-m", "breakeven.calibrate.run", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120, env={**os.environ})
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_fastest_half_counts() -> None:
    assert interval([1.0, 9.0, 1.1, 8.0, 1.2, 7.0]) == {"p10": 1.0, "p50": 1.1, "p90": 1.2}


@pytest.mark.parametrize("time", [0.0, -1.0])
def test_a_clock_that_does_not_move_is_no_measurement(time: float) -> None:
    with pytest.raises(ValueError, match="clock"):
        measured(lambda n: time * n)


def test_cases_have_keys_of_their_own_and_the_small_ones_run() -> None:
    cases = list(cpu.cases())
    assert len({case.key for case in cases}) == len(cases)
    for case in cases:
        if case.read + case.written < 200_000:
            case.make()()


def test_each_kind_of_work_comes_before_the_second_of_any() -> None:
    kinds = [(next(iter(case.op)), case.dtype) for case in run.in_turn(cpu.cases())]
    first = {kind: kinds.index(kind) for kind in kinds}
    assert max(first.values()) < len(kinds) / 2


def test_what_is_known_is_left_out() -> None:
    lines = told("--device=none", "--seconds=5")
    keys = [line["key"] for line in lines if "key" in line]
    assert "numpy small_call" in keys and "busy" in lines[-1]
    assert any("no_gpu" in line for line in lines)
    for line in lines:
        for seconds in [part["seconds"] for part in line.values() if isinstance(part, dict) and "seconds" in part]:
            assert 0 < seconds["p10"] <= seconds["p50"] <= seconds["p90"]


def test_a_device_that_is_no_gpu_is_measured_and_said_to_be_none(tmp_path) -> None:
    pytest.importorskip("torch")
    lines = told("--device=cpu", "--seconds=20")
    assert [line["real"] for line in lines if "gpu" in line] == [False]
    assert any(line.get("kernel", {}).get("on") == "gpu" for line in lines)
