"""What each of the clocks that people time with would show on the GPU: told for the span that the script prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from breakeven import _native

PRETENDED = json.dumps({"name": "Tesla T4", "memory": 16 << 30, "capability": "7.5", "units": 40, "cache": 4 << 20})
WORK = "import numpy as np\na = np.ones((300, 300))\ndef work():\n    for _ in range(5):\n        a @ a\n"

pytestmark = pytest.mark.usefixtures("native")


def spans(script: str, folder: Path) -> list[dict[str, Any]]:
    """The timed spans of a script."""
    folder.mkdir(exist_ok=True)
    path = folder / "timed.py"
    path.write_text(script)
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(folder), "BREAKEVEN_PRETEND_GPU": PRETENDED, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "breakeven._run", str(path)]
    done = subprocess.run(command, env=env, capture_output=True, timeout=120, text=True)
    assert done.returncode == 0, done.stderr
    workload = json.loads(min(folder.glob("*.breakeven.json")).read_text())
    told = json.loads(_native.answer(json.dumps({"workload": workload, "options": {"gpu": ["t4"]}})))
    rows: list[dict[str, Any]] = told["timers"]
    for row in rows:
        assert 0 < row["gpu_s"]["p10"] < row["gpu_s"]["p50"] < row["gpu_s"]["p90"], row
        assert row["work_s"] >= row["gpu_s"]["p50"], row
    return rows


@pytest.mark.parametrize(
    "clock",
    ["time.time", "time.time_ns", "time.perf_counter", "time.perf_counter_ns", "time.monotonic", "time.process_time"],
)
def test_two_reads_of_a_clock_are_a_span(clock: str, tmp_path: Path) -> None:
    (row,) = spans(f"{WORK}import time\nbegan = {clock}()\nwork()\nprint({clock}() - began)\n", tmp_path)
    assert (row["clock"], row["from"], row["to"]) == (clock, "timed.py:7", "timed.py:9")
    # Five products of 300×300 are handed over and not waited for.
    assert row["gpu_s"]["p50"] < 0.9 * row["work_s"]


def test_timeit_is_told(tmp_path: Path) -> None:
    rows = spans(f"{WORK}import timeit\nprint(timeit.timeit(work, number=3))\n", tmp_path)
    assert [row["clock"] for row in rows] == ["time.perf_counter"]
    single = spans(f"{WORK}import time\nt = time.perf_counter()\nwork()\nprint(time.perf_counter() - t)\n", tmp_path / "s")
    assert rows[0]["work_s"] == pytest.approx(3 * single[0]["work_s"], rel=0.2)


def test_clocks_within_clocks_are_told_part_by_part(tmp_path: Path) -> None:
    read = "time.perf_counter()"
    script = f"{WORK}import time\no = {read}\nwork()\ni = {read}\nwork()\nprint({read} - i)\nwork()\nprint({read} - o)\n"
    rows = spans(script, tmp_path)
    assert [(row["from"], row["to"]) for row in rows] == [
        ("timed.py:7", "timed.py:9"), ("timed.py:9", "timed.py:11"), ("timed.py:11", "timed.py:13")
    ]  # fmt: skip
    assert rows[0]["work_s"] == pytest.approx(rows[2]["work_s"], rel=0.2)
