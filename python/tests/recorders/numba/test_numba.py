"""Scripts of Numba's users: what they print is as without us, and each loop is told as counted by hand.

A count is written as the sum over loops: rounds times what a round does. Costs of functions as in
`crates/breakeven/callables/flops.csv`: a division and a root 4, a sine 26, a logarithm 35.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from numba_running import calls, recorded

pytest.importorskip("numba")

UNIFORM, NORMAL = 16, 34 + 35 + 4 + 26

pytestmark = pytest.mark.usefixtures("native")


class Told(NamedTuple):
    """One call as it has to be told: its line and name, how often, what its parts are, and FLOP of each run."""

    line: int
    name: str
    count: int
    parts: list[str]
    flop: float


def parts_of(op: Any) -> list[tuple[str, int, float]]:
    """The parts of a routine: family, how often, FLOP of one."""
    found = []
    for part in op["routine"]["parts"]:
        ((family, dims),) = part["op"].items() if isinstance(part["op"], dict) else ((part["op"], {}),)
        flop = dims.get("n", 0) * dims.get("flop_per_element", 0)
        if family == "matmul":
            flop = 2 * dims["m"] * dims["n"] * dims["k"]
        found.append((family, part["count"], flop))
    return found


def escapes(height: int, width: int, most: int) -> tuple[int, int]:
    """Rounds that begin in the picture of mandelbrot.py, and that do not end at their test."""
    begun = ended = 0
    for i in range(height):
        y = -1.5 + 3.0 * i / height
        for j in range(width):
            x, a, b = -2.0 + 3.0 * j / width, 0.0, 0.0
            for _ in range(most):
                begun += 1
                if a * a + b * b > 4.0:
                    ended += 1
                    break
                a, b = a * a - b * b + x, 2.0 * a * b + y
    return begun, begun - ended


def collatz(most: int) -> tuple[int, int]:
    """Even and odd numbers on the way to 1."""
    even = odd = 0
    for n in range(1, most + 1):
        while n != 1:
            even, odd = even + (n % 2 == 0), odd + n % 2
            n = n // 2 if n % 2 == 0 else 3 * n + 1
    return even, odd


BEGUN, GONE_ON = escapes(60, 80, 100)
EVEN, ODD = collatz(300)
TOLD = {
    "nbody.py": [Told(32, "numba.njit", 7, ["elementwise", "elementwise"], 200 * 200 * (16 + 4 + 4) + 600 * 4)],
    "mandelbrot.py": [
        Told(30, "numba.njit", 1, ["elementwise"], 60 * (2 + 4) + 4800 * (2 + 4) + BEGUN * 4 + GONE_ON * 5)
    ],
    "stencil.py": [Told(19, "numba.njit", 1, ["elementwise"], 118 * 88 * 4)],
    "monte_carlo.py": [
        Told(33, "numba.njit(scalar)", 1, ["elementwise"], 0),
        Told(34, "numba.njit", 1, ["elementwise", "reduce", "transfer"], 20000 * (2 * UNIFORM + 4) + 15764 + 5),
        Told(36, "numba.njit", 1, ["elementwise"], 6609 * (NORMAL + 2) + 7109 * 2),
        Told(37, "numba.njit", 1, ["elementwise", "reduce", "transfer"], 10 * (2 * UNIFORM + 4) + 7 + 1),
    ],
    "elements.py": [
        Told(27, "numba.vectorize", 1, ["elementwise"], 3000 * (26 + 3)),
        Told(28, "numba.vectorize", 1, ["elementwise"], EVEN * (1 + 8 + 1 + 6 + 1) + ODD * (1 + 8 + 1 + 2 + 1) + 300),
    ],
    "rows.py": [
        Told(22, "numba.guvectorize", 1, ["elementwise"], 20 * 30 * 3),
        Told(23, "numba.stencil", 1, ["elementwise"], 600 * 6),
    ],
    "solve.py": [
        Told(15, "numba.njit", 1, ["matmul", "copy", "elementwise", "matmul", "factor"], 2 * 400 * 400 + 800 + 16000)
    ],
    "running_sum.py": [Told(18, "numba.njit(sequential)", 1, ["elementwise"], 5000 * 3)],
    "early_exit.py": [Told(27, "numba.njit", 1, ["elementwise"], 11861 * 5 + 11461 * 3)],
    "typed_list.py": [Told(19, "numba.njit", 1, ["elementwise", "reduce", "transfer"], 500 * 2 + 2)],
}


@pytest.mark.parametrize("name", sorted(TOLD))
def test_loops_are_told_as_counted_by_hand(name: str, tmp_path: Path) -> None:
    workload = recorded(name, tmp_path)
    assert {unseen["reason"] for unseen in workload.get("unseen", [])} <= {"compiled-loops"}, workload["unseen"]
    own = {told.line for told in TOLD[name]}
    seen = [op for op in calls(workload) if op["line"] in own]
    assert [(op["line"], op["name"], op["count"]) for op in seen] == [told[:3] for told in TOLD[name]]
    for op, told in zip(seen, TOLD[name]):
        parts = parts_of(op["op"])
        assert [family for family, *_ in parts] == told.parts
        flop = sum(flop for _, _, flop in parts)
        assert flop == pytest.approx(told.flop, rel=0.01, abs=1), (told.line, parts)


def test_a_loop_that_is_no_kernel_is_named(tmp_path: Path) -> None:
    (note,) = recorded("running_sum.py", tmp_path)["unseen"]
    assert note["text"] == (
        "the loop of smoothed at running_sum.py:11 is no kernel, and stays on the CPU: "
        "a round needs `s` of the one before"
    )
