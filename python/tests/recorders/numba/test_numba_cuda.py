"""`@cuda.jit` under `--pretend-gpu`: kernels run as loops over their threads, as Numba's simulator runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from numba_running import calls, python

pytest.importorskip("numba")
pytestmark = pytest.mark.usefixtures("native")

SCRIPT = "odd/cuda_kernels.py"


def test_kernels_are_told_by_their_threads(tmp_path: Path) -> None:
    simulated = python(SCRIPT, tmp_path, record=False, NUMBA_ENABLE_CUDASIM="1")
    assert simulated.returncode == 0, simulated.stderr
    gpu = json.dumps({"name": "L4", "memory": 24 << 30})
    seen = python(SCRIPT, tmp_path, record=True, BREAKEVEN_PRETEND_GPU=gpu)
    assert (seen.returncode, seen.stdout) == (0, simulated.stdout), seen.stderr
    workload = json.loads(min(tmp_path.glob("*.breakeven.json")).read_text())
    flop: dict[int, float] = {}
    for op in calls(workload):
        for part in op["op"]["routine"]["parts"]:
            dims = part["op"].get("elementwise", {})
            work = dims.get("n", 0) * dims.get("flop_per_element", 0) * part["count"]
            flop[op["line"]] = flop.get(op["line"], 0) + work * op["count"]
    # A root (4) and a sum for each of 1000 elements, three times; 400 sums of 30 products.
    assert flop[50] == pytest.approx(3 * 1000 * 5, rel=0.01)
    assert flop[56] == pytest.approx(400 * 30 * 2, rel=0.01)
    # Threads that wait for each other are the simulator's.
    texts = [unseen["text"] for unseen in workload["unseen"]]
    assert [text for text in texts if "simulator ran turned" in text], texts
    assert not [text for text in texts if "breakeven failed" in text], texts


def test_without_a_pretended_gpu_nothing_changes(tmp_path: Path) -> None:
    alone, seen = (python(SCRIPT, tmp_path, record=record) for record in (False, True))
    assert (seen.returncode, seen.stdout, seen.stderr) == (alone.returncode, alone.stdout, alone.stderr)
