"""Eight threads that record at once lose nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import running

SOURCE = """import threading
import numpy as np
a = np.ones(10)
big = np.ones(400)
def work(rounds):
    for _ in range(rounds):
        a + a
        np.sqrt(a)
        big * 2.0
threads = [threading.Thread(target=work, args=(1500,)) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_eight_threads_lose_no_event(tmp_path: Path, native: None) -> None:
    script = tmp_path / "script.py"
    script.write_text(SOURCE)
    outcome = running.traced(tmp_path / "run", [str(script)], "native", tmp_path / "record")
    assert outcome.code == 0, outcome.err.decode()
    (workload,) = running.workloads(tmp_path / "record")
    for name in ("numpy.add", "numpy.sqrt", "numpy.multiply"):
        entries = [op for op in workload["ops"] if op["name"] == name]
        assert sum(op["count"] for op in entries) == 8 * 1500
        assert len({op["thread"] for op in entries}) == 8
    assert workload["unseen"] == []


@pytest.mark.timed
def test_what_ran_before_a_thread_is_none_of_its_time(tmp_path: Path, native: None) -> None:
    source = """import threading, time
import numpy as np
np.ones(3) + 1
time.sleep(1.0)
def work(seed):
    np.random.default_rng(seed).random(1000)
for seed in range(3):
    thread = threading.Thread(target=work, args=(seed,))
    thread.start()
    thread.join()
"""
    script = tmp_path / "script.py"
    script.write_text(source)
    outcome = running.traced(tmp_path / "run", [str(script)], "native", tmp_path / "record")
    assert outcome.code == 0, outcome.err.decode()
    (workload,) = running.workloads(tmp_path / "record")
    drawn = [op for op in workload["ops"] if op["name"].endswith("Generator.random")]
    assert len({op["thread"] for op in drawn}) == 3
    assert sum(op["gap_ns"] for op in drawn) < 500_000_000, drawn


def test_what_a_librarys_thread_does_is_put_down_to_the_line_that_waits_for_it(tmp_path: Path, native: None) -> None:
    source = """import multiprocessing, os
from concurrent.futures import ThreadPoolExecutor
import numpy as np
arrays = [np.arange(50_000.0)[::-1] for _ in range(4)]
def main():
    with ThreadPoolExecutor(2) as pool:
        print(len(list(pool.map(np.sort, arrays))))
main()
if os.fork() == 0:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(np.cumsum, arrays[0]).result()
else:
    os.wait()
"""
    script = tmp_path / "script.py"
    script.write_text(source)
    outcome = running.traced(tmp_path / "run", [str(script)], "native", tmp_path / "record")
    assert (outcome.code, outcome.out) == (0, b"4\n"), outcome.err.decode()
    for name, count, line in [("numpy.sort", 4, 7), ("numpy.cumsum", 1, 11)]:
        ops = [
            (op["count"], workload["sites"][op["site"]])
            for workload in running.workloads(tmp_path / "record")
            for op in workload["ops"]
            if op["name"] == name
        ]
        assert sum(n for n, _ in ops) == count, name
        assert {(site["file"], site["line"]) for _, site in ops} == {(str(script), line)}, name
