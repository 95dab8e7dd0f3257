"""Why an estimate is what it is, as Python objects: the `reasons`, `timers` and `robustness` of the engine's answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Evidence:
    """A figure that a reason rests on."""

    #: What it is: `launches`, `operational_intensity`.
    name: str
    #: In the base unit.
    value: float
    #: The base unit: `s`, `B`, `FLOP/B`, `1`.
    unit: str
    #: As printed for people.
    text: str


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason why a part of a program does or does not pay on a GPU; docs/reasons.md explains each code."""

    #: One of a documented, closed set: `launch-bound`, `transfer-bound`, …
    code: str
    #: `file:line`; None for the whole program.
    site: str | None
    #: Other lines that take part in it.
    also: tuple[str, ...]
    #: Part of the program's time on that GPU, 0 to 1; None where it is not a part of the time.
    share: float | None
    #: What is so, in one sentence.
    cause: str
    #: The figures that it rests on.
    evidence: tuple[Evidence, ...]
    #: What helps, in one sentence.
    remedy: str
    #: Where it is explained.
    docs: str

    def __str__(self) -> str:
        share = "" if self.share is None else f" ({self.share:.0%})"
        return f"{self.code}{share}: {self.cause}"


@dataclass(frozen=True, slots=True)
class Interval:
    """The 10th, 50th and 90th percentile of what a figure may turn out to be."""

    p10: float
    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class Timer:
    """A span between two reads of the script's own clock: what it took here, what it would show on the GPU."""

    #: The line that reads the clock first, `file:line`.
    start: str
    #: The line that reads it again.
    end: str
    #: Which clock: `time.perf_counter`.
    clock: str
    #: How often this span was timed.
    times: int
    #: What one took here, s.
    here_s: float
    #: What it would show on the GPU once warm, s; None where the recording does not tell.
    gpu_s: Interval | None
    #: Where that comes from, `modelled` or `assumed`; `here_s` is measured.
    basis: str
    #: What the first one would show on top, s; assumed.
    first_call_s: float
    #: What the work begun in it takes until the GPU is done, s.
    work_s: float | None
    #: In one line.
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Flip:
    """One thing that would turn the answer round, or that would not."""

    #: `error`, `gpu`, `precision`, `price`, `runs`, `size`, `coverage`, or `none` where nothing within ×10 does.
    what: str
    #: In one line.
    text: str
    #: What it is now.
    now: float | None
    #: What it would have to be; None where nothing within a factor of ten turns the answer.
    turns_at: float | None

    def __str__(self) -> str:
        return self.text


def reason(row: Mapping[str, Any]) -> Reason:
    """A reason from the engine's answer."""
    evidence = tuple(Evidence(**{name: figure[name] for name in Evidence.__slots__}) for figure in row["evidence"])
    plain = {name: row[name] for name in ("code", "site", "share", "cause", "remedy", "docs")}
    return Reason(also=tuple(row["also"]), evidence=evidence, **plain)


def timer(row: Mapping[str, Any]) -> Timer:
    """A timer from the engine's answer."""
    shown = row["gpu_s"]
    interval = None if shown is None else Interval(shown["p10"], shown["p50"], shown["p90"])
    plain = {name: row[name] for name in ("clock", "times", "here_s", "basis", "first_call_s", "work_s", "text")}
    return Timer(start=row["from"], end=row["to"], gpu_s=interval, **plain)


def flip(row: Mapping[str, Any]) -> Flip:
    """What would turn the answer, from the engine's answer."""
    return Flip(what=row["what"], text=row["text"], now=row["from"], turns_at=row["to"])
