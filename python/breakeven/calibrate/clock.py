"""Seconds of a call, robust to what else runs; what others had of the processors."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: One sample lasts so long at least, s: the clock's own cost and one interruption are then small in it.
SAMPLE_S = 0.01
#: Samples of one call, and how long they may take together, s.
LEAST, MOST, TOGETHER_S = 5, 20, 0.3
#: Where the fastest half of the samples differ by more than this factor, as many are taken again.
UNSTEADY = 1.3

Interval = dict[str, float]


def interval(seconds: list[float]) -> Interval:
    """p10, p50 and p90 of the fastest half of some samples, s: other programs only ever make a sample longer."""
    fastest = sorted(seconds)[: max(1, (len(seconds) + 1) // 2)]
    at = [fastest[round(q * (len(fastest) - 1))] for q in (0.1, 0.5, 0.9)]
    return dict(zip(("p10", "p50", "p90"), at, strict=True))


def measured(sample: Callable[[int], float]) -> Interval:
    """The time of one run, s, of which `sample(n)` times `n` together. Raises ValueError where no clock can tell it."""
    sample(1)
    once = max(sample(1), 1e-9)
    n = max(1, min(100_000, int(SAMPLE_S / once)))
    if n > 1:
        once = max(sample(n) / n, 1e-9)
        n = max(1, min(100_000, int(SAMPLE_S / once)))
    most = max(LEAST, min(MOST, int(TOGETHER_S / (n * once))))
    seconds = [sample(n) / n for _ in range(most)]
    found = interval(seconds)
    if found["p90"] > UNSTEADY * found["p10"]:
        seconds += [sample(n) / n for _ in range(most)]
        found = interval(seconds)
    if not 0.0 < found["p10"] < float("inf"):
        raise ValueError("the clock did not move")
    return found


def calls(run: Callable[[], Any]) -> Callable[[int], float]:
    """Samples of a call of the CPU's that has ended when it returns.

    Where other programs have the processors its wall time has their share in it, and its CPU time has not; that of
    several threads is their sum. The shorter one counts.
    """

    def sample(n: int) -> float:
        start, spent = time.perf_counter(), time.process_time()
        for _ in range(n):
            run()
        return min(time.perf_counter() - start, time.process_time() - spent)

    return sample


class Others:
    """The share of the processors that other programs have had since this was made, 0 to 1; None where unknown."""

    def __init__(self) -> None:
        self._begun = self._read()

    def share(self) -> float | None:
        now = self._read()
        if self._begun is None or now is None:
            return None
        all_s, busy_s, own_s = (b - a for a, b in zip(self._begun, now, strict=True))
        return min(1.0, max(0.0, (busy_s - own_s) / all_s)) if all_s > 0 else None

    @staticmethod
    def _read() -> tuple[float, float, float] | None:
        try:
            fields = [int(x) for x in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        except (OSError, ValueError):
            return None
        ticks = float(os.sysconf("SC_CLK_TCK"))
        idle = fields[3] + fields[4]
        spent = os.times()
        own = spent.user + spent.system + spent.children_user + spent.children_system
        return sum(fields) / ticks, (sum(fields) - idle) / ticks, own
