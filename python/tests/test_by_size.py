"""What `estimate` says of a size is what `run` says of the script of that size."""

from __future__ import annotations

import functools
import json
import math
import tempfile
from pathlib import Path
from typing import Any

import pytest
import running

import breakeven

GPUS = ("l4", "rtx 4090", "h100-sxm", "t4", "mi210")
#: Sizes, and the scripts that people write for them. Arrays are made by `ones`, which costs little beside the work.
SIZES: dict[str, tuple[dict[str, Any], str]] = {
    "a product in float64": (
        {"matmul": 1500, "precision": "fp64"},
        "a, b = np.ones((1500, 1500)), np.ones((1500, 1500))\nc = a @ b\nprint(c[0, 0])\n",
    ),
    "a product in float32": (
        {"matmul": 2500, "precision": "fp32"},
        "a, b = np.ones((2500, 2500), np.float32), np.ones((2500, 2500), np.float32)\nc = a @ b\nprint(c[0, 0])\n",
    ),
    "a small product": (
        {"matmul": 200, "precision": "fp64"},
        "a, b = np.ones((200, 200)), np.ones((200, 200))\nc = a @ b\nprint(c[0, 0])\n",
    ),
    "many operations in float32": (
        {"elements": 1e7, "operations": 50, "precision": "fp32"},
        "x = np.ones(10_000_000, np.float32)\nfor _ in range(50):\n    x = x * np.float32(0.99)\nprint(x[0])\n",
    ),
    "many operations in float64": (
        {"elements": 3e6, "operations": 100, "precision": "fp64"},
        "x = np.ones(3_000_000)\nfor _ in range(100):\n    x = x * 0.99\nprint(x[0])\n",
    ),
    "one operation on a large array": (
        {"elements": 5e7, "precision": "fp32"},
        "x = np.ones(50_000_000, np.float32)\ny = x * np.float32(1.5)\nprint(y[0])\n",
    ),
    "many operations on a small array": (
        {"elements": 1e4, "operations": 3000, "precision": "fp64"},
        "x = np.ones(10_000)\nfor _ in range(3000):\n    x = x * 0.99\nprint(x[0])\n",
    ),
    "an operation on a small array": (
        {"elements": 1e5, "precision": "fp64"},
        "x = np.ones(100_000)\ny = x * 1.5\nprint(y[0])\n",
    ),
}


@functools.cache
def workload(script: str) -> dict[str, Any]:
    """The script, recorded."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "script.py"
        path.write_text(f"import numpy as np\n{script}")
        outcome = running.traced(Path(folder) / "run", [str(path)], "native", Path(folder) / "record")
        assert outcome.code == 0, outcome.err.decode()
        (recorded,) = running.workloads(Path(folder) / "record")
    return recorded


def gpu_times(name: str, gpu: str, **options: Any) -> tuple[dict[str, float], dict[str, float]]:
    """Of the GPU by `estimate` and by `run`, s."""
    from breakeven.api.estimate import ask

    numbers, script = SIZES[name]
    asked = breakeven.estimate(gpu, **numbers, **options)
    recorded = ask({"workload": workload(script)}, gpu, options)
    first, second = (json.loads(json.dumps(each.to_dict()))["estimates"][0]["time_s"] for each in (asked, recorded))
    return first, second


@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("name", SIZES)
def test_the_gpus_time_is_the_same(name: str, gpu: str, native: None) -> None:
    asked, recorded = gpu_times(name, gpu)
    assert recorded["p10"] <= asked["p50"] <= recorded["p90"], (asked, recorded)
    assert asked["p10"] <= recorded["p50"] <= asked["p90"], (asked, recorded)
    both = math.log(min(asked["p90"], recorded["p90"]) / max(asked["p10"], recorded["p10"]))
    longer = max(math.log(each["p90"] / each["p10"]) for each in (asked, recorded))
    assert both >= 0.5 * longer, (asked, recorded)
    assert 1 / 1.3 < asked["p50"] / recorded["p50"] < 1.3, (asked, recorded)
