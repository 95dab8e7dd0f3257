"""Which products of float32 a GPU computes in TF32: what the script's switches say at the time."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is not installed: its recorder is not tested", allow_module_level=True)

import torch

SCRIPT = """
import torch
from torch import nn
{switch}
layer, image = nn.Conv2d(4, 8, 3), torch.randn(2, 4, 9, 9, requires_grad=True)
layer(image).sum().backward()
nn.LSTM(4, 8)(torch.randn(5, 2, 4))
torch.randn(8, 8) @ torch.randn(8, 8)
"""
#: What the last entries of the kinds of products are in.
DEFAULT = {"convolution": "tf32", "convolution_backward": "tf32", "mkldnn_rnn_layer": "tf32", "mm": "f32"}
PLAIN = dict.fromkeys(DEFAULT, "f32")


@pytest.mark.parametrize(
    ("switch", "expected"),
    [
        ("", DEFAULT),
        ("torch.backends.cudnn.allow_tf32 = False", PLAIN),
        ("torch.set_float32_matmul_precision('high')", dict.fromkeys(DEFAULT, "tf32")),
        ("torch.backends.cudnn.conv.fp32_precision = 'ieee'", PLAIN | {"mkldnn_rnn_layer": "tf32"}),
        ("torch.backends.fp32_precision = 'ieee'", PLAIN),
        ("torch.backends.cudnn.enabled = False", PLAIN),
    ],
)
def test_switches_of_tf32(switch: str, expected: dict[str, str], tmp_path: Path) -> None:
    if "fp32_precision" in switch and not hasattr(torch.backends, "fp32_precision"):
        pytest.skip("this PyTorch has no such switch")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(switch=switch))
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-m", "breakeven._run", str(script)], env=env, check=True, timeout=240)
    (file,) = tmp_path.glob("*.breakeven.json")
    entries = json.loads(file.read_text())["ops"]
    found = {entry["name"].removeprefix("aten."): entry["dtype"] for entry in entries}
    assert {name: found[name] for name in expected} == expected
