"""A loop with a time that somebody measured and published, as it is told and as the engine answers for it."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from breakeven import _native

pytest.importorskip("numba")

from breakeven.numba.plans import Asked
from breakeven.numba.source import source_of
from numba import prange


def wave(x, out):
    for i in prange(x.size):
        out[i] = math.sqrt(x[i] * x[i] + 1.0) * math.sin(x[i]) + math.cos(x[i] / 2.0)


def test_the_classic_comparison_of_prange_with_cuda() -> None:
    """20 million elements of copyleftdev/numba-dojo: 4 ms on an RTX 3080 Ti by `numba.cuda`, 2.5 the least of ten, 3.4
    their mean; arrays of `float32`, which `1.0` and `2.0` have Numba compute with in `float64`."""
    x = np.zeros(20_000_000, np.float32)
    (part,) = Asked(source_of(wave), [x, np.empty_like(x)], {}).plan.facts["parts"]
    assert (part["n"], part["dtype"], part["read"], part["written"]) == (x.size, "f64", x.nbytes, x.nbytes)
    assert part["functions"] == {"one": 4, "sqrt": 1, "sin": 1, "cos": 1, "divide": 1}
    # As callables/flops.csv has them.
    flop = 4 + 4 + 26 + 26 + 4
    kernel = {"elementwise": {"n": x.size, "inputs": 1, "flop_per_element": flop, "transcendental": True}}
    one = {"op": kernel, "dtype": "f64", "read_bytes": x.nbytes, "written_bytes": x.nbytes}
    runs = 1000
    entry = {
        "site": 0,
        "name": "numba.njit",
        "op": {"routine": {"parts": [one]}},
        "dtype": "f64",
        "read_bytes": x.nbytes,
        "written_bytes": x.nbytes,
        "count": runs,
        "cpu_ns": 15_500_000 * runs,
    }
    workload = {
        "format": "breakeven.workload/1",
        "program": {"name": "wave.py", "wall_ns": 15_500_000 * runs},
        "sites": [{"file": "wave.py", "line": 1, "function": "<module>"}],
        "ops": [entry],
    }
    answer = json.loads(_native.answer(json.dumps({"workload": workload, "options": {"gpu": ["RTX 3080 Ti"]}})))
    (estimate,) = answer["estimates"]
    each = estimate["breakdown_s"]["compute"] / runs
    assert 0.004 / 1.5 < each < 0.004 * 1.5
    assert estimate["breakdown_s"]["startup"] > 0.3
