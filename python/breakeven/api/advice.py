"""What would help, as Python objects: the `advice` of the engine's answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .reasons import Interval


@dataclass(frozen=True, slots=True)
class Advice:
    """One edit and what it would gain, found by estimating the edited program; docs/advice.md explains each id."""

    #: One of a documented, closed set: `fuse`, `keep-resident`, …
    id: str
    #: Which side becomes faster: `gpu` or `cpu`.
    side: str
    #: What to do, in a few words.
    title: str
    #: Why that helps here.
    why: str
    #: `file.py:14`; None for the whole program.
    site: str | None
    #: Time saved on that side, s; None for an edit that saves money alone.
    saves_s: Interval | None
    #: Today's CPU time ÷ the time after.
    speedup_after: Interval | None
    #: Time after, s.
    time_s_after: Interval | None
    #: Money saved a run, for an edit that saves no time.
    saves_usd: float | None
    #: A unified diff of the line, where it is certain.
    patch: str | None
    #: Code to start from.
    ready: str | None
    #: What may go wrong.
    risk: str | None
    #: Where it is explained.
    docs: str

    def __str__(self) -> str:
        gain = "" if self.speedup_after is None else f" → {self.speedup_after.p50:.3g}×"
        return f"{self.title}{gain}{' on the CPU' if self.side == 'cpu' else ''}"


def advice(row: Mapping[str, Any]) -> Advice:
    """From a row of the answer."""

    def interval(name: str) -> Interval | None:
        value = row.get(name)
        return None if value is None else Interval(**value)

    return Advice(
        id=row["id"],
        side=row["side"],
        title=row["title"],
        why=row["why"],
        site=row["site"],
        saves_s=interval("saves_s"),
        speedup_after=interval("speedup_after"),
        time_s_after=interval("time_s_after"),
        saves_usd=row.get("saves_usd"),
        patch=row["patch"],
        ready=row.get("ready"),
        risk=row.get("risk"),
        docs=row["docs"],
    )
