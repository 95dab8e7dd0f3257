"""What parameters CuPy's functions have: NumPy's often have more."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any


@cache
def _known() -> dict[str, list[str]]:
    text = Path(__file__).with_name("signatures.txt").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines():
        module, _, functions = line.partition(": ")
        if not line.startswith("#"):
            for name, parameters in re.findall(r"(\w+)\(([^)]*)\)", functions):
                found[f"{module}.{name}"] = parameters.split(",")
    return found


def checker(public: str) -> Callable[[tuple[Any, ...], dict[str, Any]], None] | None:
    """What raises TypeError, with Python's own text, for arguments that CuPy's function has no parameters for."""
    parameters = _known().get(public)
    if parameters is None:
        return None
    name = public.rpartition(".")[2]
    words = None if "**" in parameters else frozenset(parameters)
    most = parameters.index("/") if "/" in parameters else len(parameters) - ("**" in parameters)
    if "*" in parameters:
        most = sys.maxsize

    def check(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if kwargs and words is not None and not words.issuperset(kwargs):
            strange = next(word for word in kwargs if word not in words)
            raise TypeError(f"{name}() got an unexpected keyword argument {strange!r}")
        if len(args) > most:
            raise TypeError(f"{name}() takes {most} positional arguments but {len(args)} were given")

    return check


#: Parameters that are whole numbers of the host's, alone or several.
_WHOLE = ("shape", "newshape", "axis", "axes", "axis1", "axis2")


def whole(public: str) -> list[tuple[int, str]]:
    """The places and names of a function's parameters that must be whole numbers of the host's."""
    if public in ("cupy.zeros", "cupy.ones", "cupy.empty", "cupy.full"):
        return [(0, "shape")]
    if not public.startswith("cupy."):
        return []
    return [(place, word) for place, word in enumerate(_known().get(public, ())) if word in _WHOLE]
