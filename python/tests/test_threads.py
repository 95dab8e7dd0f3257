"""Eight threads that record at once lose nothing."""

from __future__ import annotations

from pathlib import Path

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
