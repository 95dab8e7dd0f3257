"""Runs a script of this folder as Python does, and recorded, in a folder of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).parent / "scripts"


def python(name: str, folder: Path, record: bool, **more: str) -> subprocess.CompletedProcess[bytes]:
    """A copy of the script, as Python runs it or recorded; at the same path, which tracebacks show; with `more` in its
    environment."""
    place = folder / "here"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    shutil.copy(SCRIPTS / name, place)
    env = {key: value for key, value in os.environ.items() if not key.startswith("BREAKEVEN_")} | more
    if record:
        env["BREAKEVEN_RECORD_DIR"] = str(folder)
    command = [sys.executable, *(["-m", "breakeven._run"] if record else []), Path(name).name]
    return subprocess.run(command, cwd=place, env=env, capture_output=True, timeout=600)


def recorded(name: str, folder: Path) -> dict[str, Any]:
    """The workload of a recorded run, whose outcome is as without us."""
    alone = python(name, folder, record=False)
    seen = python(name, folder, record=True)
    assert (seen.returncode, seen.stdout, seen.stderr) == (alone.returncode, alone.stdout, alone.stderr)
    found: dict[str, Any] = json.loads(min(folder.glob("*.breakeven.json")).read_text())
    return found


def calls(workload: dict[str, Any]) -> list[dict[str, Any]]:
    """The calls of what Numba compiled, with the line of each."""
    sites = workload["sites"]
    return [{**op, "line": sites[op["site"]]["line"]} for op in workload["ops"] if op["name"].startswith("numba.")]
