"""Arrays: shape and type first, then every element, NaN against NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import tolerance
from .tolerance import Found


def compare(ours: Any, theirs: Any, what: str, dtypes: tuple[str, str], found: Found, widened: float = 0.0) -> None:
    """Compare two arrays; `ours` is the reference, `dtypes` are what their libraries call their elements."""
    found.arrays += 1
    if ours.shape != theirs.shape:
        found.differs(what, f"{what} has shape {ours.shape} on one side and {theirs.shape} on the other")
        return
    if dtypes[0] != dtypes[1]:
        found.differs(what, f"{what} is {dtypes[0]} on one side and {dtypes[1]} on the other")
        return
    if ours.dtype.kind not in "fc":
        _exactly(ours, theirs, what, found)
        return
    if not _same_specials(ours, theirs, what, found):
        return
    relative = relative_difference(ours, theirs)
    if relative <= max(tolerance.of(*dtypes), widened):
        found.near(what, relative)
        return
    at = _place(ours, theirs)
    words = f"{what}{_index(at, ours.ndim)}: {_shown(ours[at])} against {_shown(theirs[at])}"
    found.differs(what, f"{words}, {_share(ours, theirs, *dtypes)} of the elements", relative)


def _exactly(ours: Any, theirs: Any, what: str, found: Found) -> None:
    other = np.asarray(ours != theirs)
    if ours.dtype.kind in "Mm":
        other &= ~(np.isnat(ours) & np.isnat(theirs))
    if not other.any():
        return
    at = tuple(int(i) for i in np.argwhere(other)[0])
    share = f"{_percent(other.mean())} of the elements"
    found.differs(what, f"{what}{_index(at, ours.ndim)}: {ours[at]} against {theirs[at]}, {share}")


def _same_specials(ours: Any, theirs: Any, what: str, found: Found) -> bool:
    for name, test in (("NaN", np.isnan), ("infinity", np.isinf)):
        one, other = np.asarray(test(ours)), np.asarray(test(theirs))
        differ = one != other
        if name == "infinity" and not differ.any() and ours.dtype.kind == "f":
            differ = one & (np.sign(ours) != np.sign(theirs))
        if differ.any():
            at = tuple(int(i) for i in np.argwhere(differ)[0])
            words = f"{what}{_index(at, ours.ndim)}: {_shown(ours[at])} against {_shown(theirs[at])}"
            found.differs(what, f"{words} ({name} on one side alone, {_percent(differ.mean())} of the elements)")
            return False
    return True


def _scaled(ours: Any, theirs: Any) -> Any:
    """Differences of the elements, relative; 0 where neither is finite."""
    kind = np.result_type(ours.dtype, np.float64)
    ours, theirs = np.asarray(ours, kind), np.asarray(theirs, kind)
    finite = np.isfinite(ours) & np.isfinite(theirs)
    size = np.abs(np.where(finite, ours, 0))
    largest = size.max(initial=0.0)
    with np.errstate(all="ignore"):
        apart = np.abs(np.where(finite, ours - theirs, 0)) / (size + tolerance.OF_LARGEST * largest)
    # Against zeros alone there is no scale: any difference is a whole one.
    return np.where(np.isnan(apart), 0.0, apart)


def relative_difference(ours: Any, theirs: Any) -> float:
    """The largest of the elements'."""
    return float(np.max(_scaled(ours, theirs), initial=0.0))


def _place(ours: Any, theirs: Any) -> tuple[int, ...]:
    scaled = _scaled(ours, theirs)
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(scaled)), scaled.shape))


def _share(ours: Any, theirs: Any, *dtypes: str) -> str:
    return _percent(float(np.mean(_scaled(ours, theirs) > tolerance.of(*dtypes))))


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else "all"


def _index(at: tuple[int, ...], ndim: int) -> str:
    return f"[{', '.join(map(str, at))}]" if ndim else ""


def _shown(value: Any) -> str:
    return f"{value:.8g}"
