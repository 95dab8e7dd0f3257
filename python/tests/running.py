"""Runs a script as Python does and as `breakeven run` does, in the same place, and says what came of it."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).parent / "scripts"


@dataclass(frozen=True)
class Outcome:
    """Everything about a run that its user can see."""

    code: int
    out: bytes
    err: bytes
    files: dict[str, bytes]


def run(command: list[str], folder: Path, environment: dict[str, str], typed: bytes = b"",
    tty: bool = False) -> Outcome:
    """Run in a fresh copy of the scripts at `folder`, the same path each time."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SCRIPTS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    env = {name: value for name, value in os.environ.items() if not name.startswith(("BREAKEVEN_", "PYTEST_"))}
    env |= environment
    if tty:
        code, out, err = _in_terminal(command, folder, env, typed)
    else:
        done = subprocess.run(command, cwd=folder, env=env, input=typed, capture_output=True, timeout=120)
        code, out, err = done.returncode, done.stdout, done.stderr
    return Outcome(code, out, err, _files(folder))


def untraced(folder: Path, arguments: list[str], **options: Any) -> Outcome:
    """What Python alone does."""
    return run([sys.executable, *arguments], folder, {}, **options)


def traced(
    folder: Path, arguments: list[str], recorder: str, record: Path, hooks: str = "", **options: Any
) -> Outcome:
    """The same recorded into `record`, less the `hooks` that are taken out (`-random,-sampler`)."""
    record.mkdir()
    environment = {"BREAKEVEN_RECORD_DIR": str(record), "BREAKEVEN_RECORDER": recorder}
    environment |= {"BREAKEVEN_HOOKS": hooks} if hooks else {}
    return run([sys.executable, "-m", "breakeven._run", *arguments], folder, environment, **options)


def workloads(record: Path) -> list[dict[str, Any]]:
    """The files that the processes of a run wrote, first process first."""
    paths = sorted(record.glob("*.breakeven.json"), key=lambda path: path.stat().st_ctime_ns)
    return [json.loads(path.read_text()) for path in paths]


def _in_terminal(command: list[str], folder: Path, env: dict[str, str], typed: bytes) -> tuple[int, bytes, bytes]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, cwd=folder, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    os.write(ours, typed)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    return process.wait(), seen, b""


def _files(folder: Path) -> dict[str, bytes]:
    """Every file by path; compiled files by name alone (they hold times)."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found[str(path.relative_to(folder))] = b"" if path.suffix == ".pyc" else path.read_bytes()
    return found
