"""Runs a script of `scripts/` alone and recorded, and counts what the recording says was computed."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import arithmetic
import pytest
import running

SCRIPTS = Path(__file__).parent / "scripts"
#: Lines in which XLA tells the time and its process.
_LOGGED = re.compile(rb"^[EWI]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ", re.MULTILINE)

if importlib.util.find_spec("jaxlib") is None:
    pytest.skip("jax is not installed: its recorder is not tested", allow_module_level=True)


@dataclass(frozen=True)
class Seen:
    """What a run showed its user, and what was recorded of it."""

    code: int
    out: bytes
    err: bytes
    workload: dict[str, Any]

    def shown(self) -> tuple[int, bytes, bytes]:
        return self.code, self.out, self.err


def run(name: str, record: Path | None = None) -> Seen:
    """One of the scripts; recorded into a folder where one is named."""
    env = {word: value for word, value in os.environ.items() if not word.startswith(("BREAKEVEN_", "PYTEST_"))}
    command = [sys.executable, f"{name}.py"]
    if record is not None:
        record.mkdir()
        env["BREAKEVEN_RECORD_DIR"] = str(record)
        command[1:1] = ["-m", "breakeven._run"]
    done = subprocess.run(command, cwd=SCRIPTS, env=env, capture_output=True, timeout=300)
    workload = running.workloads(record)[0] if record is not None else {}
    return Seen(done.returncode, done.stdout, _LOGGED.sub(b"", done.stderr), workload)


def parts(workload: dict[str, Any], *names: str) -> list[tuple[str, dict[str, Any], int]]:
    """Family, dims and runs of each part of the routines with one of these names."""
    return arithmetic.parts(workload, names.__contains__)


def total(workload: dict[str, Any], kinds: set[str], *names: str) -> float:
    """Arithmetic of the parts of these families."""
    return arithmetic.total(workload, kinds, names.__contains__)
