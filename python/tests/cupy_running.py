"""Runs scripts that import CuPy on a machine without one, recorded, and says what was seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import running

from breakeven import _native


def record(
    source: str, folder: Path, recorder: str = "native", code: int = 0, arguments: tuple[str, ...] = ()
) -> tuple[str, dict[str, Any]]:
    """What the script printed, and its workload."""
    script = folder / "script.py"
    script.write_text(source)
    outcome = running.traced(folder / "run", [str(script), *arguments], recorder, folder / "record")
    assert outcome.code == code, (outcome.code, outcome.err.decode())
    (workload,) = running.workloads(folder / "record")
    return outcome.out.decode(), workload


def device(workload: dict[str, Any]) -> dict[str, int]:
    """How often each name ran on the device."""
    found: dict[str, int] = {}
    for entry in workload["ops"]:
        if entry.get("device") is not None:
            found[entry["name"]] = found.get(entry["name"], 0) + entry["count"]
    return found


def copied(workload: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Copies and bytes of each direction that the program asked for."""
    found: dict[str, tuple[int, int]] = {}
    for entry in workload["ops"]:
        if "transfer" in entry["op"]:
            way = entry["op"]["transfer"]["direction"]
            count, bytes = found.get(way, (0, 0))
            found[way] = count + entry["count"], bytes + entry["count"] * entry["op"]["transfer"]["bytes"]
    return found


def estimate(workload: dict[str, Any]) -> dict[str, Any]:
    """The answer for one GPU."""
    request = {"workload": workload, "options": {"gpu": ["l4"]}}
    answer: dict[str, Any] = json.loads(_native.answer(json.dumps(request)))
    assert "error" not in answer, answer
    return answer


def note(answer: dict[str, Any], code: str) -> str | None:
    """The text of the first note with this code."""
    return next((note["text"] for note in answer["notes"] if note["code"] == code), None)
