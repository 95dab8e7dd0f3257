"""What parameters CuPy's functions have: NumPy's often have more."""

from __future__ import annotations

import re
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


def check(public: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raises TypeError for arguments that CuPy's function has no parameters for, with Python's own text."""
    parameters = _known().get(public)
    if parameters is None:
        return
    name = public.rpartition(".")[2]
    if "**" not in parameters:
        for word in kwargs:
            if word not in parameters:
                raise TypeError(f"{name}() got an unexpected keyword argument {word!r}")
    most = parameters.index("/") if "/" in parameters else len(parameters) - ("**" in parameters)
    if "*" not in parameters and len(args) > most:
        raise TypeError(f"{name}() takes {most} positional arguments but {len(args)} were given")
