"""Attention that a CPU takes apart is one kernel forward and one back, as a GPU runs it, and takes as much memory as
where the CPU has one, too."""

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

NETWORK = """import sys, torch
from torch.utils.checkpoint import checkpoint
drop, how, device = float(sys.argv[1]), sys.argv[2], sys.argv[3]
attention = torch.nn.functional.scaled_dot_product_attention
class Block(torch.nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads, self.into, self.out = heads, torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
    def forward(self, x):
        n, length, width = x.shape
        q, k, v = (t.view(n, length, self.heads, -1).transpose(1, 2) for t in self.into(x).chunk(3, -1))
        y = attention(q, k, v, dropout_p=drop, is_causal=True)
        return x + self.out(y.transpose(1, 2).reshape(n, length, width))
torch.manual_seed(0)
blocks = torch.nn.ModuleList(Block() for _ in range(3)).to(device)
y = torch.randn(2, 256, 64).to(device)
with torch.autocast(device, torch.bfloat16, enabled=how == "autocast"):
    for block in blocks:
        y = checkpoint(block, y, use_reentrant=False) if how == "checkpoint" else block(y)
y.float().square().mean().backward()
print(y.mean().item(), blocks[0].into.weight.grad.norm().item())
"""


def _run(arguments: list[str], **environment: str) -> str:
    done = subprocess.run([sys.executable, *arguments], env=os.environ | environment, capture_output=True, timeout=240)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def _recorded(
    source: str, arguments: list[str], folder: Path, memory: int = 24 << 30, **environment: str
) -> tuple[str, dict[str, Any]]:
    folder.mkdir()
    script = folder / "script.py"
    script.write_text(source)
    gpu = {"name": "RTX 4090", "memory": memory, "units": 128, "capability": "8.9"}
    environment = {"BREAKEVEN_PRETEND_GPU": json.dumps(gpu), "BREAKEVEN_RECORD_DIR": str(folder)} | environment
    printed = _run(["-m", "breakeven._run", str(script), *arguments], **environment)
    [file] = folder.glob("*.breakeven.json")
    return printed, json.loads(file.read_text())


def _ops(workload: dict[str, Any]) -> list[Any]:
    """What ran, but for views."""
    ops = [entry for entry in workload["ops"] if entry["op"] != "view"]
    return sorted((e["name"], str(e.get("phase")), e["dtype"], json.dumps(e["op"]), e["count"]) for e in ops)


def _kernels(workload: dict[str, Any]) -> int:
    return sum(e["count"] for e in workload["ops"] if isinstance(e["op"], dict) and "attention" in e["op"])


def _told(workload: dict[str, Any]) -> set[str]:
    return {unseen["reason"] for unseen in workload["unseen"]}


@pytest.mark.parametrize("how", ["plain", "checkpoint", "autocast"])
def test_drop_out_changes_neither_ops_nor_memory(how: str, tmp_path: Path) -> None:
    _, without = _recorded(NETWORK, ["0.0", how, "cuda"], tmp_path / "without")
    _, dropped = _recorded(NETWORK, ["0.1", how, "cuda"], tmp_path / "dropped")
    assert _ops(dropped) == _ops(without)
    assert _kernels(dropped) == (9 if how == "checkpoint" else 6)
    peaks = [workload["program"]["device_peak_bytes"] for workload in (dropped, without)]
    assert peaks[0] == pytest.approx(peaks[1], rel=0.01)
    assert not {"attention", "hook-failed"} & (_told(dropped) | _told(without))


def test_a_cpus_script_prints_what_it_does_alone(tmp_path: Path) -> None:
    printed, workload = _recorded(NETWORK, ["0.1", "plain", "cpu"], tmp_path / "at", BREAKEVEN_PRETEND_GPU="")
    assert printed == _run([str(tmp_path / "at" / "script.py"), "0.1", "plain", "cpu"])
    assert _kernels(workload) == 6
    assert not {"attention", "hook-failed"} & _told(workload)


@pytest.mark.parametrize("fake", ["0", "1"])
def test_scores_need_no_room_on_the_gpu(fake: str, tmp_path: Path) -> None:
    source = """import torch
q = torch.randn(1, 2, 2048, 16, device="cuda", requires_grad=True)
attention = torch.nn.functional.scaled_dot_product_attention
attention(q, q, q, dropout_p=0.1).sum().backward()
attention(q, q, q, None, 0.1).sum().backward()
print(q.grad.shape)
"""
    # The scores have 33.6 MB, queries 0.26.
    printed, workload = _recorded(source, [], tmp_path / "at", memory=16 << 20, BREAKEVEN_FAKE=fake)
    assert printed == "torch.Size([1, 2, 2048, 16])\n"
    assert _kernels(workload) == 4
    assert workload["program"]["device_peak_bytes"] < 4 << 20


@pytest.mark.parametrize("fake", ["0", "1"])
@pytest.mark.parametrize("drop", ["0.0", "0.1"])
def test_a_bias_that_learns(drop: str, fake: str, tmp_path: Path) -> None:
    source = """import sys, torch
q = torch.randn(2, 2, 64, 16, device="cuda", requires_grad=True)
bias = torch.nn.Parameter(torch.zeros(2, 2, 64, 64, device="cuda"))
torch.nn.functional.scaled_dot_product_attention(q, q, q, bias, float(sys.argv[1])).sum().backward()
print(bias.grad.shape, bool(fake or bias.grad.abs().sum() > 0))
""".replace("fake", fake)
    printed, workload = _recorded(source, [drop], tmp_path / "at", BREAKEVEN_FAKE=fake)
    assert printed == "torch.Size([2, 2, 64, 64]) True\n"
    assert _kernels(workload) == 2
    assert not any("matmul" in e["op"] for e in workload["ops"]) and "attention" not in _told(workload)


@pytest.mark.parametrize("fake", ["0", "1"])
def test_queries_that_share_keys(fake: str, tmp_path: Path) -> None:
    source = """import torch
q, k = (torch.randn(2, heads, 128, 16, device="cuda", requires_grad=True) for heads in (8, 2))
torch.nn.functional.scaled_dot_product_attention(q, k, k, enable_gqa=True).sum().backward()
print(k.grad.shape)
"""
    printed, workload = _recorded(source, [], tmp_path / "at", BREAKEVEN_FAKE=fake)
    assert printed == "torch.Size([2, 2, 128, 16])\n"
    assert [e["op"]["attention"]["heads"] for e in workload["ops"] if "attention" in e["op"]] == [8, 8]


@pytest.mark.parametrize("fake", ["0", "1"])
@pytest.mark.parametrize("drop", ["0.0", "0.1"])
def test_values_of_another_width_than_keys(drop: str, fake: str, tmp_path: Path) -> None:
    source = """import sys, torch
q, v = (torch.randn(1, 2, 1024, width, device="cuda", requires_grad=True) for width in (48, 8))
torch.nn.functional.scaled_dot_product_attention(q, q, v, dropout_p=float(sys.argv[1])).sum().backward()
print(q.grad.shape, v.grad.shape)
"""
    printed, workload = _recorded(source, [drop], tmp_path / "at", memory=8 << 20, BREAKEVEN_FAKE=fake)
    assert printed == "torch.Size([1, 2, 1024, 48]) torch.Size([1, 2, 1024, 8])\n"
    # On average: of two products forward, of five back.
    assert sorted(e["op"]["attention"]["head_dim"] for e in workload["ops"] if "attention" in e["op"]) == [28, 32]
    assert "attention" not in _told(workload)


def test_what_gpus_take_apart_too_is_told_as_products(tmp_path: Path) -> None:
    source = """import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
q = torch.randn(1, 2, 64, 16, device="cuda", requires_grad=True)
attention = torch.nn.functional.scaled_dot_product_attention
attention(*3 * [q.double()], dropout_p=0.1).sum().backward()
with sdpa_kernel(SDPBackend.MATH):
    attention(q, q, q, dropout_p=0.1).sum().backward()
"""
    _, workload = _recorded(source, [], tmp_path / "at")
    assert _kernels(workload) == 0
    assert sum(e["count"] for e in workload["ops"] if isinstance(e["op"], dict) and "matmul" in e["op"]) == 12
    assert "attention" not in _told(workload)


def test_it_is_the_function_to_all_that_ask(tmp_path: Path) -> None:
    source = """import pickle, torch
attention, home = torch.nn.functional.scaled_dot_product_attention, torch._C._nn
assert pickle.loads(pickle.dumps(attention)) is attention is home.scaled_dot_product_attention
q = torch.randn(1, 2, 8, 4, device="cuda")
try:
    attention(q, q)
except TypeError as error:
    print(error)
print(attention(q, q, q, dropout_p=0.5).shape, attention.__name__)
"""
    printed, _ = _recorded(source, [], tmp_path / "at")
    assert "missing 1 required positional" in printed
    assert printed.endswith("torch.Size([1, 2, 8, 4]) scaled_dot_product_attention\n")
