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
PRETENDED = json.dumps({"name": "Tesla T4", "memory": 16 << 30, "capability": "7.5", "units": 40})

pytestmark = pytest.mark.usefixtures("native")


def reasons(script: Path, gpu: str, folder: Path) -> list[dict[str, Any]]:
    """Why a script does or does not pay there, once the GPU has been in use."""
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(folder), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    text = script.read_text()
    if "cuda" in text or "cupy" in text:
        env["BREAKEVEN_PRETEND_GPU"] = PRETENDED
    if "import torch" in text and "DataLoader" not in text:
        env["BREAKEVEN_FAKE"] = "1"  # arrays as large as these would take a CPU minutes
    command = [sys.executable, "-m", "breakeven._run", str(script)]
    done = subprocess.run(command, env=env, capture_output=True, timeout=240, text=True)
    assert done.returncode == 0, done.stderr
    workload = json.loads(min(folder.glob("*.breakeven.json")).read_text())
    workload["program"]["exit"] = {"code": 0}
    warm = "start-up-bound" not in text
    request = {"workload": workload, "options": {"gpu": [gpu], "exclude_startup": warm}}
    told = json.loads(_native.answer(json.dumps(request)))
    return list(told["reasons"])


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.glob("*.py")))
def test_the_main_reason_is_the_one_that_was_named(name: str, tmp_path: Path) -> None:
    script = CASES / name
    text = script.read_text()
    for library in ("torch", "scipy"):
        if re.search(rf"^(import|from) {library}\b", text, re.MULTILINE) and importlib.util.find_spec(library) is None:
            pytest.skip(f"needs {library}")
    (gpu, expected), = re.findall(r"^main reason on (\S+): (\S+)$", text, re.MULTILINE)
    found = reasons(script, gpu, tmp_path)
    assert found and found[0]["code"] == expected, [(r["code"], r["share"], r["cause"]) for r in found]
