"""Runs scripts of data frames plainly and recorded, and reads what was seen by line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from breakeven import _native


class Run:
    """One script, both ways."""

    def __init__(self, script: Path, folder: Path) -> None:
        self.plain = _run([sys.executable, script.name], script, folder / "here", {})
        record = folder / "record"
        record.mkdir()
        command = [sys.executable, "-m", "breakeven._run", script.name]
        self.seen = _run(command, script, folder / "here", {"BREAKEVEN_RECORD_DIR": str(record)})
        self.workload: dict[str, Any] = json.loads(min(record.glob("*.breakeven.json")).read_text())

    def by_line(self) -> dict[int, set[str]]:
        """Names of what ran at each line."""
        found: dict[int, set[str]] = defaultdict(set)
        for entry in self.workload["ops"]:
            found[self.workload["sites"][entry["site"]]["line"]].add(entry["name"])
        return found

    def answer(self, gpu: str = "a100") -> dict[str, Any]:
        """The estimate."""
        request = {"workload": self.workload, "options": {"gpu": [gpu]}}
        return dict(json.loads(_native.answer(json.dumps(request))))

    def understood(self) -> float:
        """The share of the time in calls that are ops of a known kind."""
        times = [(entry["op"] != "opaque", entry["cpu_ns"]) for entry in self.workload["ops"]]
        return sum(ns for known, ns in times if known) / max(sum(ns for _, ns in times), 1)


def once(scripts: Path, folders: pytest.TempPathFactory) -> Callable[[str], Run]:
    """A script of this folder by its name, run where it was not before."""
    runs: dict[str, Run] = {}

    def get(name: str) -> Run:
        if name not in runs:
            runs[name] = Run(scripts / f"{name}.py", folders.mktemp(name))
        return runs[name]

    return get


def _run(command: list[str], script: Path, folder: Path, more: dict[str, str]) -> tuple[int, bytes, bytes]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(script, folder)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("BREAKEVEN_", "PYTEST_"))} | more
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def line_of(script: Path, text: str) -> int:
    """The number of the one line that holds this text."""
    (line,) = (number for number, line in enumerate(script.read_text().splitlines(), 1) if text in line)
    return line
