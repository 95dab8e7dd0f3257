"""PyTorch on a GPU that is there. None is, so the device without values stands for it: ops, moves and their order are
those of a real one, and nothing is computed."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import running

from breakeven import _native

pytestmark = [
    pytest.mark.timed,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs PyTorch"),
    pytest.mark.usefixtures("native"),
]

GPU = """import torch, types
from breakeven.torch import session as ours
from breakeven.torch.describe import storages
ours.session.gpu_kinds = ("meta",)
storages._is_meta = lambda _: False
torch.meta = types.SimpleNamespace(get_device_name=lambda _: 'NVIDIA "H100"', synchronize=lambda: None)
del ours, storages
"""
SCRIPT = """
model = torch.nn.Linear(64, 8).to("meta")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
kept = torch.ones(4) * 2
for _ in range(40):
    x = torch.randn(32, 64).to("meta", non_blocking=True)
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
torch.meta.synchronize()
print(kept.tolist(), loss.device)
"""


def record(source: str, folder: Path) -> dict[str, Any]:
    """The workload of a script that ends well and prints what it prints unrecorded."""
    script = folder / "script.py"
    script.write_text(source)
    plain = running.untraced(folder / "plain", [str(script)])
    (folder / "record").mkdir()
    environment = {"BREAKEVEN_RECORD_DIR": str(folder / "record"), "BREAKEVEN_RECORDER": "native"}
    outcome = running.run([sys.executable, "-m", "breakeven._run", str(script)], folder / "run", environment)
    assert (outcome.code, outcome.out, outcome.err) == (0, plain.out, plain.err)
    (workload,) = running.workloads(folder / "record")
    return workload


def test_what_runs_on_a_gpu_that_is_there_is_told_as_such(tmp_path: Path) -> None:
    workload = record(GPU + SCRIPT, tmp_path)
    assert workload["program"]["gpu"] == 'NVIDIA "H100"'
    there = [entry for entry in workload["ops"] if entry.get("device") == "meta"]
    names: dict[str, int] = {}
    for entry in there:
        names[entry["name"]] = names.get(entry["name"], 0) + entry["count"]
    assert names["aten.addmm"] == names["aten.mean"] == 40
    # Weights and bias once, a batch in each round.
    copies = [entry for entry in there if "transfer" in entry["op"]]
    assert sum(entry["count"] for entry in copies) == 42
    moved = sum(entry["count"] * entry["op"]["transfer"]["bytes"] for entry in copies)
    assert moved == 4 * (40 * 32 * 64 + 64 * 8 + 8)
    assert sum(entry["count"] for entry in there if entry["op"] == "synchronise") == 1
    # What stays on the host is the host's: batches are made there, and `tolist` copies nothing.
    assert {entry["name"] for entry in workload["ops"] if entry not in there} >= {"aten.mul", "aten.randn"}
    assert {entry["op"]["transfer"]["asynchronous"] for entry in copies if entry["count"] > 1} == {True}
    assert not [entry for entry in workload["ops"] if "host_read" in str(entry["op"])]
    assert 0 < workload["program"]["device_peak_bytes"] < 10_000_000


def test_the_answer_speaks_of_that_gpu_and_models_the_cpu(tmp_path: Path) -> None:
    workload = record(GPU + SCRIPT, tmp_path)
    told = json.loads(_native.answer(json.dumps({"workload": workload, "options": {"gpu": ["l4"]}})))
    assert told["baseline"]["basis"] == "modelled"
    assert told["estimates"][0]["policy"] == "as-written"
    (note,) = (note["text"] for note in told["notes"] if note["code"] == "own-gpu")
    assert 'on this machine\'s NVIDIA "H100"' in note


def test_what_pytorch_imports_in_the_midst_of_a_step_is_start_up(tmp_path: Path) -> None:
    source = """import sys, time
began = time.perf_counter()
import torch
torch_s, late_s = time.perf_counter() - began, 0.0
for _ in range(3):
    x = torch.ones(4)
    began = time.perf_counter()
    import torch._dynamo
    late_s = max(late_s, time.perf_counter() - began)
    x = x + 1
with open("took", "w") as file:
    print(torch_s, late_s, file=file)
"""
    script = tmp_path / "script.py"
    script.write_text(source)
    (tmp_path / "record").mkdir()
    environment = {"BREAKEVEN_RECORD_DIR": str(tmp_path / "record"), "BREAKEVEN_RECORDER": "native"}
    outcome = running.run([sys.executable, "-m", "breakeven._run", str(script)], tmp_path / "run", environment)
    torch_s, late_s = map(float, outcome.files["took"].split())
    (workload,) = running.workloads(tmp_path / "record")
    assert workload["program"]["startup_ns"] > 1e9 * (0.8 * torch_s + 0.8 * late_s)
    assert sum(entry.get("gap_ns", 0) for entry in workload["ops"]) < 0.2e9 * late_s


FILLED = """
import numpy
layer = torch.nn.Linear(4, 4).to("meta")
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
there = torch.full((8,), 2.0, device="meta") + torch.arange(8, device="meta")
for step in range(40):
    x = torch.tensor([[1.0, 2.0, 3.0, step]], device="meta")
    y = torch.as_tensor([[1.0, 2.0, 3.0]], device="meta")
    optimizer.zero_grad()
    (layer(x).sum() + y.sum()).backward()
    optimizer.step()
"""


def test_numbers_that_fill_a_tensor_on_a_gpu_are_copied(tmp_path: Path) -> None:
    """Weight and bias, then 16 and 12 bytes in each step; what the GPU fills by itself is no copy."""
    copies = []
    for entry in record(GPU + FILLED, tmp_path)["ops"]:
        if isinstance(entry["op"], dict) and "transfer" in entry["op"]:
            assert entry["op"]["transfer"]["direction"] == "h2d"
            copies += [entry["op"]["transfer"]["bytes"]] * entry["count"]
    assert sorted(copies) == sorted([64, 16] + 40 * [16, 12])


def test_what_is_converted_crosses_as_the_side_that_does_not_convert_has_it(tmp_path: Path) -> None:
    script = """
d, f = torch.ones(100, dtype=torch.float64), torch.ones(10, 100)
for to in (False, True):
    x = d.to("meta", torch.float32, non_blocking=to)
    y = torch.empty(10, 100, dtype=torch.float64, device="meta").copy_(d, non_blocking=to)
    z = torch.empty(10, 100, dtype=torch.float64, device="meta").copy_(f, non_blocking=to)
"""
    workload = record(GPU + script, tmp_path)
    copies = [e for e in workload["ops"] if "transfer" in e["op"] for _ in range(e["count"])]
    assert sorted((e["op"]["transfer"]["asynchronous"], e["op"]["transfer"]["bytes"]) for e in copies) == [
        (False, 400), (False, 8000), (False, 8000), (True, 800), (True, 4000), (True, 8000)
    ]  # fmt: skip
