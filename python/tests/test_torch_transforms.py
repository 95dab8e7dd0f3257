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
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(tmp_path), "BREAKEVEN_PRETEND_GPU": json.dumps(GPU), "BREAKEVEN_FAKE": fake}
    command = [sys.executable, "-m", "breakeven._run", PROGRAM]
    done = subprocess.run(command, env=env, capture_output=True, timeout=240, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "torch.Size([6, 6]) torch.Size([5, 6]) cuda:0 cuda:0\n"
    [file] = tmp_path.glob("*.breakeven.json")
    copies = []
    for entry in json.loads(file.read_text())["ops"]:
        if isinstance(entry["op"], dict) and "transfer" in entry["op"]:
            copies += [entry["op"]["transfer"]["bytes"]] * entry["count"]
    # The rows, the layer's weight and bias.
    assert sorted(copies) == [24, 120, 144]
