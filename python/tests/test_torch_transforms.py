"""`torch.func` and autograd's own functions on a GPU that is imitated."""

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

PROGRAM = str(Path(__file__).parent / "programs" / "pytorch" / "torch_transforms.py")
GPU = {"name": "NVIDIA L4", "memory": 24 << 30, "capability": "8.9", "units": 58}


@pytest.mark.parametrize("fake", ["0", "1"])
def test_what_a_transformed_function_makes_is_there(fake: str, tmp_path: Path) -> None:
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(tmp_path), "BREAKEVEN_PRETEND_GPU": json.dumps(GPU),
        "BREAKEVEN_FAKE": fake}
    command = [sys.executable, "-m", "breakeven._run", PROGRAM]
    done = subprocess.run(command, env=env, capture_output=True, timeout=240, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "torch.Size([6, 6]) torch.Size([5, 6]) cuda:0 cuda:0\n"
    # The rows, the layer's weight and bias.
    assert _copies(tmp_path) == [24, 120, 144]


def _copies(folder: Path) -> list[int]:
    """Bytes of each."""
    [file] = folder.glob("*.breakeven.json")
    copies = []
    for entry in json.loads(file.read_text())["ops"]:
        if isinstance(entry["op"], dict) and "transfer" in entry["op"]:
            copies += [entry["op"]["transfer"]["bytes"]] * entry["count"]
    return sorted(copies)


def test_what_pytorch_makes_of_its_own_accord_is_not_put_anywhere(tmp_path: Path) -> None:
    script = tmp_path / "ensemble.py"
    script.write_text("""import torch
from torch.func import functional_call, stack_module_state, vmap
device = "cuda" if torch.cuda.is_available() else "cpu"
models = [torch.nn.Linear(6, 4).to(device) for _ in range(3)]
params, _ = stack_module_state(models)
x, y = torch.randn(8, 6, device=device), torch.randint(0, 4, (8,), device=device)
def loss(params, x, y):
    return torch.nn.functional.cross_entropy(functional_call(models[0], params, (x,)), y)
for _ in range(4):
    vmap(loss, in_dims=(0, None, None))(params, x, y).sum().backward()
""")
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-m", "breakeven._run", str(script)], env=env, check=True, timeout=240)
    # Weights and biases; how many labels count is only made like the rest.
    assert _copies(tmp_path) == 3 * [16] + 3 * [96]
