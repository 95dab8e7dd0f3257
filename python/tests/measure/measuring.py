"""Runs one side of a measurement, and compares two."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def side(how: str, script: Path, folder: Path, repeat: int = 0, arguments: tuple[str, ...] = ()) -> dict[str, Any]:
    """What the runner tells of this side of a script, run from the script's folder."""
    told = run(how, script, folder, repeat, arguments)
    assert told.returncode in (0, 4, 130), told.stderr
    found: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return found


def run(
    how: str, script: Path, folder: Path, repeat: int = 0, arguments: tuple[str, ...] = (), **options: Any
) -> subprocess.CompletedProcess[str]:
    """The runner itself."""
    command = [sys.executable, "-m", "breakeven.measure.run", f"--side={how}", f"--out={folder}"]
    command += [f"--repeat={repeat}", "--", str(script), *arguments]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("BREAKEVEN_", "PYTEST_"))}
    env["PYTHONHASHSEED"] = "0"
    return subprocess.run(command, cwd=script.parent, env=env, capture_output=True, text=True, timeout=120, **options)


def compare(first: Path, second: Path, *more: str) -> dict[str, Any]:
    """What the comparison of two sides came to."""
    command = [sys.executable, "-m", "breakeven.measure.compare", str(first), str(second), *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def printed(told: dict[str, Any], number: int = 0, stream: str = "stdout") -> str:
    """What the script printed in one run."""
    return Path(told["runs"][number][stream]).read_text()


def fallbacks(told: dict[str, Any]) -> dict[tuple[str, int], int]:
    """How often each function fell back, by line."""
    found: dict[tuple[str, int], int] = {}
    for item in told["runs"][0]["port"]["fallbacks"]:
        key = item["function"], item["line"]
        found[key] = found.get(key, 0) + item["count"]
    return found
