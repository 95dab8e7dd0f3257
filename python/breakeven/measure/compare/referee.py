"""Which of two sides is off: how far each is from a run of the same script in float64."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from . import arrays, text
from .runs import Run, kept
from .tolerance import Found, finite

#: One side is off where it is so much further from float64 than the other.
_FURTHER = 3.0


def decide(first: Path, second: Path, exact: Path, differing: list[str]) -> dict[str, Any] | None:
    """Of the first thing that differs and that the run in float64 has as well: how far each side is from it, relative
    (None: beyond any number), and which is off: `first`, `second` or `both`. None where there is no such thing."""
    sides = [kept(folder) for folder in (exact, first, second)]
    if not all(sides):
        return None
    true, *runs = (side[0] for side in sides)
    for what in differing:
        apart = [_apart(true, run, what) for run in runs]
        if None not in apart:
            one, other = (value or 0.0 for value in apart)
            off = "first" if one > _FURTHER * other else "second" if other > _FURTHER * one else "both"
            return {"what": what, "first": finite(one), "second": finite(other), "off": off}
    return None


def _apart(true: Run, run: Run, what: str) -> float | None:
    """The largest relative difference from the true run; None where that cannot be told."""
    name = what.removeprefix("array ")
    if name in true.dtypes and name in run.dtypes:
        exact, given = true.array(name), run.array(name)
        if exact.shape != given.shape or exact.dtype.kind not in "fc" or given.dtype.kind not in "fc":
            return None
        # Elements that are finite in one alone are as far apart as can be.
        if np.any(np.isfinite(exact) != np.isfinite(given)):
            return math.inf
        return arrays.relative_difference(exact, given)
    if what.startswith("printed text, line "):
        found = Found()
        text.compare(true.printed(), run.printed(), "printed text", math.inf, found)
        return found.close.get(what)
    return None
