"""Optimizers recorded on a CPU, which steps with one parameter after the other, against those of a GPU."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is not installed: its recorder is not tested", allow_module_level=True)

import torch

from breakeven.torch.gpu_form import foreach

GPU = {"name": "NVIDIA L4", "memory": 24 << 30, "capability": "8.9", "units": 58}
SCRIPT = """import sys, torch
from torch import nn
torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Sequential(*(nn.Linear(64, 64) for _ in range(12))).to(device)
name, groups, options = sys.argv[1], int(sys.argv[2]), eval(sys.argv[3])
parameters = list(net.parameters())
optimizer = getattr(torch.optim, name)([{"params": parameters[i::groups]} for i in range(groups)], **options)
x = torch.randn(4, 64).to(device)
for _ in range(4):
    optimizer.zero_grad(set_to_none=False)
    net(x).square().mean().backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
print(*(f"{p.sum().item():.9f}" for p in net.parameters()))
"""


def _run(folder: Path, arguments: list[str], **environment: str) -> tuple[str, Any]:
    script = folder / "step.py"
    script.write_text(SCRIPT)
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(folder), "OMP_NUM_THREADS": "1"} | environment
    command = [sys.executable, "-m", "breakeven._run", str(script), *arguments]
    done = subprocess.run(command, env=env, capture_output=True, timeout=240, text=True)
    assert done.returncode == 0, done.stderr
    [file] = folder.glob("*.breakeven.json")
    return done.stdout, json.loads(file.read_text())


def _of_steps(workload: Any) -> dict[str, Any]:
    """Kernels of the optimizer, what they are given in bytes, and copies."""
    # What reads nothing makes a parameter's state; what reads little counts steps, on the host.
    steps = [e for e in workload["ops"] if e.get("phase") == "optimizer" and e["op"] != "view"
        and e["read_bytes"] > 128]
    return {
        "launches": sum(e["count"] for e in steps),
        "bytes": sum(e["count"] * (e["read_bytes"] + e["written_bytes"]) for e in steps),
        "elements": sum(e["count"] * kind.get("n", 0) for e in steps for kind in dict(e["op"]).values()),
        "copies": sum(e["count"] for e in workload["ops"] if e["name"] == "torch.Tensor.to"),
    }


@pytest.mark.parametrize(
    ("name", "groups", "options"),
    [
        ("Adam", 1, "{'weight_decay': 0.01}"), ("AdamW", 2, "{}"), ("AdamW", 1, "{'foreach': False}"),
        ("AdamW", 1, "{'fused': True}"), ("AdamW", 1, "{'lr': torch.tensor(0.001)}"), ("RMSprop", 3, "{}"),
        ("Adam", 12, "{}"), ("SGD", 8, "{'lr': 0.1, 'momentum': 0.9}"),
        ("SGD", 1, "{'lr': 0.1, 'momentum': 0.9, 'weight_decay': 1e-4}"), ("SGD", 1, "{'lr': 0.1, 'foreach': True}"),
    ],
)  # fmt: skip
def test_a_step_is_that_of_a_gpu(name: str, groups: int, options: str, tmp_path: Path) -> None:
    arguments, told = [name, str(groups), options], []
    for folder, environment in (("cpu", {}), ("gpu", {"BREAKEVEN_PRETEND_GPU": json.dumps(GPU)})):
        (tmp_path / folder).mkdir()
        told.append(_run(tmp_path / folder, arguments, **environment))
    assert told[0][0] == told[1][0]
    here, there = (_of_steps(workload) for _, workload in told)
    assert here["launches"] == there["launches"] > 0
    assert here["bytes"] == pytest.approx(there["bytes"], rel=0.15)
    assert here["elements"] == pytest.approx(there["elements"], rel=0.15)
    assert here["copies"] == there["copies"] == 25


def test_what_is_taken_in_turn_unwatched_gives_the_same_bits(tmp_path: Path) -> None:
    """Where a GPU is imitated: as lists do, and as a CPU does."""
    script = tmp_path / "bits.py"
    script.write_text("""import itertools, sys, torch
device = "cuda" if torch.cuda.is_available() else "cpu"
FLAGS = {"weight_decay": 0.01, "amsgrad": True, "maximize": True, "momentum": 0.9, "nesterov": True, "centered": True}
def after(name, dtype, **options):
    torch.manual_seed(0)
    net = torch.nn.Linear(7, 5, dtype=dtype).to(device)
    optimizer = getattr(torch.optim, name)(net.parameters(), lr=0.01, **options)
    for _ in range(40):
        optimizer.zero_grad()
        net(torch.randn(3, 7, dtype=dtype).to(device)).square().sum().backward()
        optimizer.step()
    return b"".join(one.detach().cpu().numpy().tobytes() for one in net.parameters())
for name in sys.argv[1].split(","):
    kind = getattr(torch.optim, name)
    flags = [flag for flag in FLAGS if flag in kind.__init__.__code__.co_varnames]
    for chosen in ((), *((flag,) for flag in flags if flag != "nesterov"), flags):
        options = {flag: FLAGS[flag] for flag in chosen}
        for dtype in (torch.float32, torch.float64):
            told = after(name, dtype, **options)
            print(name, options, dtype, told.hex(), told == after(name, dtype, foreach=True, **options))
""")
    names = ",".join(kind for kind in dir(torch.optim) if kind.lower() in foreach._SAME)
    assert len(names.split(",")) == len(foreach._SAME)
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    bare = subprocess.run([sys.executable, script, names], env=env, capture_output=True, text=True, timeout=240,
        check=True)
    told = bare.stdout.splitlines()
    assert len(told) > 40 and all(line.endswith(" True") for line in told)
    env |= {"BREAKEVEN_RECORD_DIR": str(tmp_path), "BREAKEVEN_PRETEND_GPU": json.dumps(GPU)}
    command = [sys.executable, "-m", "breakeven._run", script, names]
    recorded = subprocess.run(command, env=env, capture_output=True, text=True, timeout=240)
    assert recorded.stdout == bare.stdout
    [file] = tmp_path.glob("*.breakeven.json")
    steps = [e for e in json.loads(file.read_text())["ops"] if e["name"] == "aten._foreach_addcdiv_"
        and e["op"] != "opaque"]
    assert sum(e["count"] for e in steps) > 40 * len(told)
