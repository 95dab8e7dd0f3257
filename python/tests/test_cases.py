"""Programs in the manner of threads where people ask why a GPU does not help: each names, in its first lines, the main
reason that has to come out, written down before it was tried.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from breakeven import _native

CASES = Path(__file__).parent / "cases"
PRETENDED = json.dumps({"name": "Tesla T4", "memory": 16 << 30, "capability": "7.5", "units": 40, "cache": 4 << 20})
#: Arrays as large as theirs would take a CPU minutes: no values.
FAKE = {"axpy_large.py", "batch_moved_each_step.py", "big_products.py", "in_memory_hog.py"}

pytestmark = [pytest.mark.timed, pytest.mark.usefixtures("native")]


def answer(script: Path, gpu: str, folder: Path) -> dict[str, Any]:
    """What is said of a script there, once the GPU has been in use. Skips where its libraries are not installed."""
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(folder), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    text = script.read_text()
    for library in ("torch", "scipy"):
        if re.search(rf"^(import|from) {library}\b", text, re.MULTILINE) and importlib.util.find_spec(library) is None:
            pytest.skip(f"needs {library}")
    if "cuda" in text or "cupy" in text:
        env["BREAKEVEN_PRETEND_GPU"] = PRETENDED
    if script.name in FAKE:
        env["BREAKEVEN_FAKE"] = "1"
    folder.mkdir()
    command = [sys.executable, "-m", "breakeven._run", str(script)]
    done = subprocess.run(command, env=env, capture_output=True, timeout=240, text=True)
    assert done.returncode == 0, done.stderr
    workload = json.loads(min(folder.glob("*.breakeven.json")).read_text())
    workload["program"]["exit"] = {"code": 0}
    warm = "start-up-bound" not in text
    request = {"workload": workload, "options": {"gpu": [gpu], "exclude_startup": warm}}
    told = json.loads(_native.answer(json.dumps(request)))
    return dict(told)


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.glob("*.py")))
def test_the_main_reason_is_the_one_that_was_named(name: str, tmp_path: Path) -> None:
    script = CASES / name
    ((gpu, expected),) = re.findall(r"^main reason on (\S+): (.+)$", script.read_text(), re.MULTILINE)
    found = answer(script, gpu, tmp_path / "first")["reasons"]
    if not found or found[0]["code"] not in expected.split(" or "):  # a busy machine makes Python look slow
        found = answer(script, gpu, tmp_path / "again")["reasons"]
    assert found and found[0]["code"] in expected.split(" or "), [(r["code"], r["share"], r["cause"]) for r in found]


@pytest.mark.parametrize(
    ("name", "code", "figure", "count"),
    [
        ("cupy_four_by_four", "launch-bound", "launches", 30_001),
         # ones and the additions; the sum is part of its reading
        ("torch_item_in_loop", "synchronisation-bound", "waits", 4000),
        ("numpy_sum_of_upload", "transfer-bound", "h2d_bytes", 20 * 160_000_000),
        ("cupy_asnumpy_each_step", "transfer-bound", "d2h_bytes", 15 * 32_000_000),
    ],
)
def test_figures_are_right_by_hand_count(name: str, code: str, figure: str, count: int, tmp_path: Path) -> None:
    told = answer(CASES / f"{name}.py", "t4", tmp_path / "run")
    (reason,) = (reason for reason in told["reasons"] if reason["code"] == code and reason["site"] is None)
    figures = {row["name"]: row["value"] for row in reason["evidence"]}
    assert figures.get(figure, told["workload"].get(figure)) == count, figures
