"""Ops that do what several others do are told as those that a GPU runs."""

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

GPU = json.dumps({"name": "RTX 4090", "memory": 24 << 30, "units": 128, "capability": "8.9"})
ENCODER = """import sys, torch
from torch import nn
torch.manual_seed(0)
device, heads = "cuda" if torch.cuda.is_available() else "cpu", int(sys.argv[1])
first = sys.argv[3] == "first"
layer = nn.TransformerEncoderLayer(32, heads, 64, batch_first=True, activation=sys.argv[2], norm_first=first)
encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=not first).eval().to(device)
padding = torch.zeros(3, 20, dtype=torch.bool)
padding[1, 15:] = padding[2, 7:] = True
x, padding = torch.randn(3, 20, 32).to(device), padding.to(device)
with torch.no_grad():
    y = encoder(x, src_key_padding_mask=padding if sys.argv[4] == "padded" else None)
print(y.shape, y.sum().item())
"""


def _run(source: str, arguments: list[str], folder: Path, pretend: bool = True, fake: bool = False) -> tuple[str, Any]:
    folder.mkdir()
    script = folder / "script.py"
    script.write_text(source)
    environment = {"BREAKEVEN_RECORD_DIR": str(folder), "BREAKEVEN_FAKE": str(int(fake)), "OMP_NUM_THREADS": "1"}
    if pretend:
        environment["BREAKEVEN_PRETEND_GPU"] = GPU
    command = [sys.executable, "-m", "breakeven._run", str(script), *arguments]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, timeout=240)
    assert done.returncode == 0, done.stderr.decode()
    [file] = folder.glob("*.breakeven.json")
    return done.stdout.decode(), json.loads(file.read_text())


def _plain(source: str, arguments: list[str]) -> str:
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", source, *arguments], env=environment, capture_output=True, timeout=240)
    return done.stdout.decode()


def _kinds(workload: Any, kind: str) -> list[Any]:
    """The ops of this kind, each as often as it ran."""
    ops = [entry for entry in workload["ops"] if isinstance(entry["op"], dict) and kind in entry["op"]]
    return [entry["op"][kind] for entry in ops for _ in range(entry["count"])]


def _products(workload: Any) -> int:
    return sum(2 * op["m"] * op["n"] * op["k"] * op["batch"] for op in _kinds(workload, "matmul"))


def _back(workload: Any) -> list[int]:
    transfers = [op for op in _kinds(workload, "transfer") if op["direction"] == "d2h"]
    return sorted(op["bytes"] for op in transfers)


def _opaque(workload: Any) -> list[str]:
    return [entry["name"] for entry in workload["ops"] if entry["op"] == "opaque"]


@pytest.mark.parametrize("pretend", [True, False])
@pytest.mark.parametrize("form", [["4", "relu", "last"], ["2", "gelu", "first"]])
def test_a_layer_of_an_encoder_without_gradient(form: list[str], pretend: bool, tmp_path: Path) -> None:
    printed, workload = _run(ENCODER, [*form, "whole"], tmp_path / "at", pretend)
    assert printed == _plain(ENCODER, [*form, "whole"])
    # By layer: queries, keys and values, what is mixed, two of the part behind; and one kernel of attention.
    assert _products(workload) == 2 * 2 * 60 * (4 * 32 * 32 + 2 * 32 * 64)
    assert [(op["batch"] * op["heads"], op["q_len"], op["kv_len"]) for op in _kinds(workload, "attention")] == [
        (3 * int(form[0]), 20, 20)
    ] * 2
    assert len(_kinds(workload, "rowwise")) == 4
    assert not _opaque(workload) and not _kinds(workload, "pending")


@pytest.mark.parametrize("pretend", [True, False])
def test_padding_is_not_computed_with(pretend: bool, tmp_path: Path) -> None:
    printed, workload = _run(ENCODER, ["4", "relu", "last", "padded"], tmp_path / "at", pretend)
    assert printed == _plain(ENCODER, ["4", "relu", "last", "padded"])
    tokens, pairs = 20 + 15 + 7, 400 + 225 + 49
    assert _products(workload) == 2 * 2 * tokens * (4 * 32 * 32 + 2 * 32 * 64)
    for op in _kinds(workload, "attention"):
        assert op["batch"] * op["q_len"] * op["kv_len"] == pytest.approx(pairs, rel=0.005)
    # Whether the padding comes last, and how long each sequence is.
    assert _back(workload) == [1, 3 * 2 * 8]
    assert not _opaque(workload)


@pytest.mark.parametrize("pretend", [True, False])
def test_heads_that_no_kernel_takes_have_scores_with_padding(pretend: bool, tmp_path: Path) -> None:
    source = ENCODER.replace("32, heads", "24, heads").replace("20, 32", "20, 24")
    _, workload = _run(source, ["2", "relu", "last", "padded"], tmp_path / "at", pretend)
    scores = 2 * 2 * 3 * 2 * 20 * 20 * 12
    assert _products(workload) == 2 * (2 * 42 * (4 * 24 * 24 + 2 * 24 * 64) + scores)
    assert not _kinds(workload, "attention") and not _opaque(workload)


def test_without_values_nothing_is_padding_and_a_note_says_so(tmp_path: Path) -> None:
    printed, workload = _run(ENCODER, ["4", "relu", "last", "padded"], tmp_path / "at", fake=True)
    assert printed.startswith("torch.Size([3, 20, 32])")
    assert _products(workload) == 2 * 2 * 60 * (4 * 32 * 32 + 2 * 32 * 64)
    assert _back(workload) == [1, 3 * 2 * 8]
    assert any("how much of a sequence is padding" in unseen["text"] for unseen in workload["unseen"])


def test_what_a_layer_makes_on_the_way_takes_memory(tmp_path: Path) -> None:
    source = """import torch
layer = torch.nn.TransformerEncoderLayer(64, 4, 4096, batch_first=True).eval().cuda()
with torch.no_grad():
    layer(torch.empty(8, 512, 64, device="cuda"))
"""
    _, workload = _run(source, [], tmp_path / "at", fake=True)
    weights = 4 * (4 * 64 * 64 + 2 * 64 * 4096 + 4 * 64 + 4096 + 64 + 4 * 64)
    rows = 4 * 8 * 512
    # What goes in, what attention gives, what is between the two products of the part behind, and what comes of it.
    assert workload["program"]["device_peak_bytes"] == weights + rows * (64 + 64 + 4096 + 64)


def test_attention_whose_weights_are_asked_for(tmp_path: Path) -> None:
    source = """import torch
x = torch.randn(2, 10, 16, device="cuda")
with torch.no_grad():
    y, weights = torch.nn.MultiheadAttention(16, 2, batch_first=True).eval().cuda()(x, x, x)
print(y.shape, weights.shape)
"""
    printed, workload = _run(source, [], tmp_path / "at")
    assert printed == "torch.Size([2, 10, 16]) torch.Size([2, 10, 10])\n"
    assert _products(workload) == 2 * 20 * 4 * 16 * 16 + 2 * 2 * 4 * 10 * 10 * 8
    assert not _kinds(workload, "attention") and not _opaque(workload)


@pytest.mark.parametrize("pretend", [True, False])
def test_a_bilinear_layer_multiplies_twice_for_each_of_its_results(pretend: bool, tmp_path: Path) -> None:
    source = """import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
layer = torch.nn.Bilinear(10, 12, 7, bias=False).to(device)
a, b = (torch.ones(5, width, device=device, requires_grad=True) for width in (10, 12))
layer(a, b).sum().backward()
print(a.grad.shape, b.grad.shape)
"""
    _, workload = _run(source, [], tmp_path / "at", pretend)
    forward = [op for op in workload["ops"] if op.get("phase") == "forward" and op["name"] == "aten.bmm"]
    assert _products({"ops": forward}) == 7 * 2 * 5 * (10 * 12 + 12)
    # Of each gradient one of both is of three numbers at a time, without a sum.
    assert _products(workload) == 7 * 2 * 5 * (10 * 12 + 12 + 3 * 10 * 12)
    assert not _opaque(workload)
