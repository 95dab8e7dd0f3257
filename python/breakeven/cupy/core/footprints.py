"""Footprints of the filters of `cupyx.scipy.ndimage`: brought to the device as truth values, and asked there what
they hold."""

from __future__ import annotations

import sys
from typing import Any

from . import calls

#: By filter: the place of its size, before that of the footprint; how many filters it is made of; whether it ranks
#: elements, for which it has to know how many there are.
_FILTERS: dict[str, tuple[int, int, bool]] = {
    "median_filter": (1, 1, True), "rank_filter": (2, 1, True), "percentile_filter": (2, 1, True),
    **dict.fromkeys(("minimum_filter", "maximum_filter", "grey_erosion", "grey_dilation"), (1, 1, False)),
    **dict.fromkeys(("grey_opening", "grey_closing", "white_tophat", "black_tophat"), (1, 2, False)),
    **dict.fromkeys(("morphological_gradient", "morphological_laplace"), (1, 2, False)),
}  # fmt: skip
NAMES = frozenset(f"cupyx.scipy.ndimage.{name}" for name in _FILTERS)
_FLAT = frozenset("median_filter rank_filter percentile_filter minimum_filter maximum_filter".split())


def settled(public: str, args: tuple[Any, ...], words: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of one of these filters, footprint and structure those on the device."""
    cupy, name = sys.modules["cupy"], public.rpartition(".")[2]
    place, times, ranks = _FILTERS[name]
    given = list(args)

    def put(at: int, word: str, value: Any) -> None:
        nonlocal words
        if len(given) > at:
            given[at] = value
        else:
            words = {**words, word: value}

    footprint = given[place + 1] if len(given) > place + 1 else words.get("footprint")
    structure = None if name in _FLAT else given[place + 2] if len(given) > place + 2 else words.get("structure")
    for _ in range(times):
        if footprint is not None:
            there = cupy.array(footprint, bool)
            if not there.any():
                raise ValueError("all-zero footprint is not supported")
            if ranks:
                int(there.sum())
            elif structure is None:
                bool(there.all())
            put(place + 1, "footprint", there)
        if structure is not None and not calls.is_device(structure):
            put(place + 2, "structure", cupy.ascontiguousarray(structure))
    return tuple(given), words
