"""FLOP of known networks: forward and training step against counts by hand, and against PyTorch's own counter.

Counts by hand are of products, convolutions and attention, as everybody counts them; element-wise work is left out.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

for package in ("torch", "torchvision", "transformers"):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: FLOP of networks are not tested", allow_module_level=True)

NETWORKS = Path(__file__).parent / "programs" / "torch_networks.py"


def _recorded(name: str, folder: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """The workload, and what the program printed: counts by hand and by PyTorch's counter."""
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(folder), "OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-m", "breakeven._run", str(NETWORKS), name], env=env, capture_output=True, timeout=300
    )
    assert done.returncode == 0, done.stderr.decode()
    [file] = folder.glob("*.breakeven.json")
    return json.loads(file.read_text()), json.loads(done.stdout)


def _flop(entry: dict[str, Any]) -> float:
    """As the families count: products, convolutions (twice for both gradients), attention (5 of 2 products)."""
    kind, dims = next(iter(entry["op"].items())) if isinstance(entry["op"], dict) else (entry["op"], {})
    if kind == "matmul":
        return 2.0 * dims["m"] * dims["n"] * dims["k"] * dims["batch"]
    if kind == "convolution":
        output, kernel = 1, 1
        for size in dims["output"]:
            output *= size
        for size in dims["kernel"]:
            kernel *= size
        both = 2 if dims["pass"] == "backward" else 1
        return both * 2.0 * dims["batch"] * output * dims["cout"] * (dims["cin"] / dims["groups"]) * kernel
    if kind == "attention":
        pairs = dims["q_len"] * dims["kv_len"]
        if dims["causal"]:
            pairs = dims["q_len"] * (dims["q_len"] + 1) / 2
        products = 2 if dims["pass"] == "forward" else 5
        return products * 2.0 * dims["batch"] * dims["heads"] * pairs * dims["head_dim"]
    return 0.0


@pytest.mark.parametrize("name", ["resnet50", "vit_b_16", "bert", "gpt2", "unet", "lstm"])
def test_network(name: str, tmp_path: Path) -> None:
    workload, told = _recorded(name, tmp_path)
    forward = sum(_flop(e) * e["count"] for e in workload["ops"] if e.get("phase") == "forward")
    backward = sum(_flop(e) * e["count"] for e in workload["ops"] if e.get("phase") == "backward")
    # The program runs inference once, then a training step.
    assert forward == pytest.approx(2 * told["forward"], rel=0.005)
    assert backward == pytest.approx(told["backward"], rel=0.005)
    if "counter" in told:
        assert told["counter"] == pytest.approx(told["forward"] + told["backward"], rel=0.005)
    opaque = [e["name"] for e in workload["ops"] if e["op"] == "opaque"]
    assert not opaque
