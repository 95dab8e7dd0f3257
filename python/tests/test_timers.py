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

pytestmark = [pytest.mark.timed, pytest.mark.usefixtures("native")]


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
    assert {row["basis"] for row in rows} <= {"modelled", "assumed"}
    for row in rows:
        assert 0 < row["gpu_s"]["p10"] < row["gpu_s"]["p50"] < row["gpu_s"]["p90"], row
        assert row["work_s"] >= row["gpu_s"]["p50"], row
    return rows


def work(script: str, folder: Path, keep: Any = lambda row: True) -> list[float]:
    """What the work of each span takes, of three recordings the least: on a busy machine Python's part of it grows."""
    folder.mkdir(exist_ok=True)
    told = [[row["work_s"] for row in spans(script, folder / str(again)) if keep(row)] for again in range(3)]
    return [min(times) for times in zip(*told, strict=True)]


@pytest.mark.parametrize(
    "clock",
    ["time.time", "time.time_ns", "time.perf_counter", "time.perf_counter_ns", "time.monotonic", "time.process_time"],
)
def test_two_reads_of_a_clock_are_a_span(clock: str, tmp_path: Path) -> None:
    (row,) = spans(f"{WORK}import time\nbegan = {clock}()\nwork()\nprint({clock}() - began)\n", tmp_path)
    assert (row["clock"], row["from"], row["to"]) == (clock, "timed.py:7", "timed.py:9")
    # Five products of 300×300 are handed over and not waited for.
    assert row["gpu_s"]["p50"] < 0.9 * row["work_s"]


def test_datetime_is_a_clock(tmp_path: Path) -> None:
    script = f"""{WORK}from datetime import datetime, timezone
began, kind = datetime.now(timezone.utc), type(datetime.now())
work()
took = datetime.now(tz=timezone.utc) - began
print(took.total_seconds(), isinstance(began, datetime), kind is datetime, datetime.now.__qualname__)
class Mine(datetime):
    pass
assert type(Mine.now()) is Mine and Mine.now(tz=timezone.utc).tzinfo is timezone.utc
"""
    # Reads with nothing between them are told where something else had the processor.
    (row,) = [row for row in spans(script, tmp_path) if row["from"] != row["to"]][:1]
    assert (row["clock"], row["from"], row["to"]) == ("datetime.now", "timed.py:7", "timed.py:9")


def test_an_event_of_the_device_shows_the_work(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    work = "a = cp.ones((500, 500))\ndef work():\n    for _ in range(5):\n        a @ a\n"
    script = f"""import time, cupy as cp
{work}begin, end = cp.cuda.Event(), cp.cuda.Event()
host = time.perf_counter()
begin.record()
work()
end.record()
host = time.perf_counter() - host
end.synchronize()
print(cp.cuda.get_elapsed_time(begin, end))
"""
    event, clock = sorted(spans(script, tmp_path), key=lambda row: str(row["clock"]))
    assert (event["clock"], event["from"], event["to"]) == ("cuda.Event.record", "timed.py:8", "timed.py:10")
    assert (clock["clock"], clock["from"], clock["to"]) == ("time.perf_counter", "timed.py:7", "timed.py:11")
    # The clock is not waited for, the event is reached when the products are done.
    assert event["gpu_s"]["p50"] == event["work_s"] == pytest.approx(clock["work_s"], rel=0.1)
    assert clock["gpu_s"]["p50"] < 0.9 * clock["work_s"]


def test_rounds_that_are_tried_first_are_not_those_that_are_timed(tmp_path: Path) -> None:
    script = f"""{WORK}import time
def timed(rounds):
    began = time.perf_counter()
    for _ in range(rounds):
        a @ a
    return time.perf_counter() - began
for rounds in (1, 2, 40, 40, 40, 40):
    timed(rounds)
"""
    (row,) = [row for row in spans(script, tmp_path) if row["from"] == "timed.py:8"]
    assert row["times"] == 4
    (many,) = work(script, tmp_path / "many", lambda row: row["from"] == "timed.py:8")
    (single,) = work(f"{WORK}import time\nt = time.time()\na @ a\nprint(time.time() - t)\n", tmp_path / "single")
    assert many == pytest.approx(40 * single, rel=0.3)


def test_what_ipython_times_is_told(tmp_path: Path) -> None:
    pytest.importorskip("IPython")
    script = f"""{WORK}from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.push({{"work": work}})
shell.run_line_magic("timeit", "-n 3 -r 4 work()")
shell.run_line_magic("time", "work()")
"""
    # What IPython compiles for it is a file of its own.
    (timed,) = [row for row in spans(script, tmp_path) if "magic-timeit" in row["from"]]
    assert timed["times"] == 4
    of = {"timed": lambda row: "magic-timeit" in row["from"],
        "once": lambda row: row["from"] == row["to"] == "timed.py:10"}
    (several,), (once,) = (work(script, tmp_path / name, keep) for name, keep in of.items())
    assert several == pytest.approx(3 * once, rel=0.3)


def test_timeit_is_told(tmp_path: Path) -> None:
    script = f"{WORK}import timeit\nprint(timeit.timeit(work, number=3))\n"
    assert [row["clock"] for row in spans(script, tmp_path)] == ["time.perf_counter"]
    (several,) = work(script, tmp_path / "several")
    (single,) = work(f"{WORK}import time\nt = time.perf_counter()\nwork()\nprint(time.perf_counter() - t)\n",
        tmp_path / "s")
    assert several == pytest.approx(3 * single, rel=0.2)


def test_clocks_within_clocks_are_told_part_by_part(tmp_path: Path) -> None:
    read = "time.perf_counter()"
    script = (
        f"{WORK}import time\no = {read}\nwork()\ni = {read}\nwork()\nprint({read} - i)\nwork()\nprint({read} "
        f"- o)\n"
    )
    rows = spans(script, tmp_path)
    assert [(row["from"], row["to"]) for row in rows] == [
        ("timed.py:7", "timed.py:9"), ("timed.py:9", "timed.py:11"), ("timed.py:11", "timed.py:13")
    ]  # fmt: skip
    first, _, third = work(script, tmp_path / "again")
    assert first == pytest.approx(third, rel=0.2)


#: Calls of the standard library with a time limit: they read `time.monotonic` or `time.time` for themselves.
LIMITED = """
import concurrent.futures, logging, queue, subprocess, sys, threading
def limited():
    q = queue.Queue()
    q.put(1)
    q.get(timeout=0.01)
    threading.Event().wait(0.001)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        concurrent.futures.wait([pool.submit(abs, 1)], timeout=5)
        list(pool.map(abs, [1, 2], timeout=5))
    subprocess.run([sys.executable, "-c", ""], timeout=60, capture_output=True)
    logging.getLogger().warning("so far")
"""


def test_what_the_standard_library_reads_for_itself_is_no_clock_of_the_script(tmp_path: Path) -> None:
    assert spans(f"{WORK}{LIMITED}for _ in range(3):\n    work()\n    limited()\n", tmp_path) == []


def test_nor_is_what_it_reads_when_the_stand_in_calls_it(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    script = """import threading, cupy as cp
from cupyx.profiler import benchmark
a, condition = cp.ones((300, 300)), threading.Condition()
with condition:
    benchmark(condition.wait_for, (lambda: (a @ a).size == 0, 0.001), n_repeat=3, n_warmup=1)
"""
    # The stand-in's events are the script's.
    assert {row["clock"] for row in spans(script, tmp_path)} == {"cuda.Event.record"}
