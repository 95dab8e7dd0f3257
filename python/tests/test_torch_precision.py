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
DEFAULT = {"convolution": "tf32", "convolution_backward": "tf32", "lstm": "tf32", "mm": "f32"}
PLAIN = dict.fromkeys(DEFAULT, "f32")


@pytest.mark.parametrize(
    ("switch", "expected"),
    [
        ("", DEFAULT),
        ("torch.backends.cudnn.allow_tf32 = False", PLAIN),
        ("torch.set_float32_matmul_precision('high')", dict.fromkeys(DEFAULT, "tf32")),
        ("torch.backends.cudnn.conv.fp32_precision = 'ieee'", PLAIN | {"lstm": "tf32"}),
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


#: What CUDA's autocast makes of ops on half precision: kept, single precision, or the widest of both.
#: https://docs.pytorch.org/docs/stable/amp.html
AUTOCAST = {
    "half": ["x @ x.T", "F.linear(x, x)", "half.sigmoid()", "F.gelu(half)", "half.mean()", "x.mv(x[0])",
             "F.pad(half, (1, 1), mode='reflect')", "torch.einsum('ij,kj->ik', x, x)", "torch.linalg.multi_dot([x, x, "
             "x])"],
    "single": ["half ** 2", "half.pow(half)", "half.exp()", "half.abs().log()", "half.abs().rsqrt()",
    "half.softmax(-1)",
               "F.log_softmax(half, -1)", "half.sum()", "half.sum(0)", "half.cumsum(0)", "half.norm()",
               "torch.norm(half, 1)", "F.softplus(half)", "F.layer_norm(half, (4,))", "F.group_norm(half[:, :, None], "
               "2)",
               "F.mse_loss(half, x)", "F.cross_entropy(half, index[:4, 0])", "torch.cdist(half, half)",
               "F.interpolate(half[None, None], scale_factor=2)", "x.scatter_add(0, index, half)",
               "torch.addcmul(x, half, half)", "torch.cat([half, x])", "half.double().exp().float()"],
}  # fmt: skip


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_autocast_is_that_of_a_gpu(precision: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"""
import torch
import torch.nn.functional as F
x = torch.randn(4, 4, device="cuda", requires_grad=True)
index = torch.zeros(4, 4, dtype=torch.long, device="cuda")
with torch.autocast("cuda", torch.{precision}):
    half = x @ x
    for kind, expressions in {AUTOCAST!r}.items():
        for expression in expressions:
            value = eval(expression)
            print(kind, expression, value.dtype)
            value.sum().backward(retain_graph=True)
    with torch.inference_mode():
        for kind, expressions in {AUTOCAST!r}.items():
            for expression in expressions:
                print(kind, expression, eval(expression).dtype)
    try:
        F.binary_cross_entropy(x, x)
    except RuntimeError as error:
        print(error)
    print(torch.is_autocast_enabled("cuda"), torch.get_autocast_dtype("cuda"))
print(half.exp().dtype, x.grad.dtype)
""")
    gpu = {"name": "NVIDIA L4", "memory": 24 << 30, "capability": "8.9", "units": 58}
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(tmp_path), "BREAKEVEN_PRETEND_GPU": json.dumps(gpu)}
    command = [sys.executable, "-m", "breakeven._run", str(script)]
    lines = subprocess.run(command, env=env, check=True, timeout=240, capture_output=True,
        text=True).stdout.splitlines()
    half, single = f"torch.{precision}", "torch.float32"
    types = {"half": half, "single": single}
    expected = [f"{kind} {e} {types[kind]}" for kind, es in AUTOCAST.items() for e in es]
    assert lines[: 2 * len(expected)] == expected * 2
    assert lines[-2:] == [f"True {half}", f"{half} {single}"]
    assert any("unsafe to autocast" in line for line in lines)
    (file,) = tmp_path.glob("*.breakeven.json")
    entries = json.loads(file.read_text())["ops"]
    powers = [e for e in entries if e["name"] == "aten.pow"]
    assert powers and {e["dtype"] for e in powers} == {"f32"}
