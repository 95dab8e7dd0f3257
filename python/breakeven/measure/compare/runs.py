"""Two runs of scripts: all that they printed, left in `__main__` and wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from . import arrays, files, text, tolerance
from .tolerance import Found, finite


#: Arrays that differ by more than this between two runs of one side are random, or times.
_RANDOM = 0.01


class Run:
    """What one run left."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.folder = Path(told["stdout"]).parent
        self.root, self.original = told["root"], told["original"]
        self.dtypes: dict[str, str] = told.get("arrays") or {}
        self.written: list[str] = told.get("files") or []
        self.left_out: list[str] = told.get("left_out") or []

    def printed(self) -> str:
        """Standard output, with the folder as the user knows it."""
        found = (self.folder / "stdout").read_bytes().decode(errors="replace")
        return found.replace(self.root, self.original)

    def array(self, name: str) -> Any:
        """One that it left."""
        return np.load(self.folder / "arrays" / f"{name}.npy", allow_pickle=False)

    def file(self, name: str) -> Path:
        """One that it wrote."""
        return Path(self.root) / name


def compare(ours: Run, theirs: Run, one_script: bool, varying: Found | None = None) -> Found:
    """Compare two runs; `ours` is the reference. What varies between runs of one side is judged by how much it does."""
    found = Found()
    floats = {dtype for run in (ours, theirs) for dtype in run.dtypes.values() if dtype in tolerance.BY_TYPE}
    printed = tolerance.of(*floats) if floats else tolerance.DEFAULT
    text.compare(ours.printed(), theirs.printed(), "printed text", printed, found, words_matter=one_script)
    found.left_out += [f"{text} (on one side)" for text in {*ours.left_out, *theirs.left_out}]
    skipped = {text.partition(":")[0] for run in (ours, theirs) for text in run.left_out}
    for name in sorted(ours.dtypes.keys() | theirs.dtypes.keys()):
        label = f"array {name}"
        if name not in ours.dtypes or name not in theirs.dtypes:
            if one_script and name not in skipped:
                found.differs(label, f"{label} is on one side alone")
            continue
        arrays.compare(
            ours.array(name), theirs.array(name), label, (ours.dtypes[name], theirs.dtypes[name]), found,
            _widened(label, varying),
        )  # fmt: skip
    _files(ours, theirs, printed, found)
    for what in varying.differences if varying is not None else ():
        _pardon(what, found, varying, ours)
    return found


def _files(ours: Run, theirs: Run, printed: float, found: Found) -> None:
    for name in sorted({*ours.written, *theirs.written}):
        if name in ours.written and name in theirs.written:
            files.compare(ours.file(name), theirs.file(name), name, printed, found)
        else:
            side = "first" if name in ours.written else "second"
            found.differs(f"file {name}", f"file {name} was written on the {side} side alone")


def _widened(label: str, varying: Found | None) -> float:
    """The tolerance of numbers that differ between two runs of one side."""
    _, relative = varying.differences.get(label, ("", None)) if varying is not None else ("", None)
    return tolerance.WIDENED * (relative or 0.0)


def _pardon(what: str, found: Found, varying: Found | None, ours: Run) -> None:
    """Leave out a difference in what no two runs of one side agree on: random numbers, times; of arrays that vary a
    little the tolerance was widened."""
    if what not in found.differences or varying is None:
        return
    relative = varying.differences[what][1]
    name = what.removeprefix("array ")
    if name in ours.dtypes and relative is not None and relative < _RANDOM and ours.array(name).ndim:
        return
    del found.differences[what]
    found.left_out.append(f"{what}: two runs of one side differ there")


def kept(folder: Path) -> list[Run]:
    """The runs of a side whose results were kept."""
    told = json.loads((folder / "result.json").read_text())
    return [Run(run) for run in told["runs"] if "arrays" in run]


def sides(first: Path, second: Path, one_script: bool) -> dict[str, Any]:
    """Compare two sides by their folders; as JSON has it."""
    ours, theirs = kept(first), kept(second)
    varying = compare(ours[0], ours[1], True) if len(ours) > 1 else None
    found = compare(ours[0], theirs[0], one_script, varying)
    told = found.told()
    told["varying"] = list(varying.differences) if varying is not None else []
    if len(theirs) > 1:
        again = compare(theirs[0], theirs[1], True, varying)
        new = {what: words for what, words in again.differences.items() if varying is None or what not in
               varying.differences}  # fmt: skip
        told["varying_second"] = list(new)
        if new and not told["varying"]:
            texts = [{"what": what, "text": f"two runs of the second side differ: {text}", "relative": finite(relative)}
                     for what, (text, relative) in new.items()]  # fmt: skip
            told["differences"] += texts
            told["agree"] = False
    told["compared"] = found.compared
    return told
