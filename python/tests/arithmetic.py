"""Arithmetic of what was recorded as calls of many kernels, by formulas of the tests' own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def parts(workload: dict[str, Any], keep: Callable[[str], bool]) -> list[tuple[str, dict[str, Any], int]]:
    """Family, dims and runs of each part of the routines with names to keep."""
    found = []
    for entry in workload["ops"]:
        if not keep(entry["name"]) or not isinstance(entry["op"], dict) or "routine" not in entry["op"]:
            continue
        for part in entry["op"]["routine"]["parts"]:
            kind, dims = next(iter(part["op"].items())) if isinstance(part["op"], dict) else (part["op"], {})
            found.append((kind, dims, entry["count"] * part["count"]))
    return found


def flop(kind: str, dims: dict[str, Any]) -> float:
    """As the families count; of what they count by other formulas nothing."""
    if kind == "matmul":
        return 2.0 * dims["m"] * dims["n"] * dims["k"] * dims["batch"]
    if kind == "convolution":
        points = dims["batch"] * dims["cout"] * dims["cin"] / dims["groups"]
        for size in (*dims["output"], *dims["kernel"]):
            points *= size
        return 2.0 * points
    if kind in ("elementwise", "reduce"):
        each: float = dims["flop_per_element"]
        return each * dims["n"]
    if kind == "factor":
        return dims["batch"] * _library(dims["kind"], dims["m"], dims["n"], max(dims["rhs"], 1))
    return 0.0


def _library(kind: str, m: int, n: int, columns: int) -> float:
    return {
        "lu": 2 / 3 * n**3,
        "cholesky": n**3 / 3,
        "qr": 2 * (2 * m * n**2 - 2 / 3 * n**3),
        "svdvals": 8 / 3 * n**3,
        "eigh": 9 * n**3,
        "triangular_solve": n**2 * columns,
    }[kind]


def total(workload: dict[str, Any], kinds: set[str], keep: Callable[[str], bool]) -> float:
    """Arithmetic of the parts of these families."""
    return sum(runs * flop(kind, dims) for kind, dims, runs in parts(workload, keep) if kind in kinds)
