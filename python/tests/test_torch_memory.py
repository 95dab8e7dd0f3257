"""Peak memory against what PyTorch's allocator says of itself in an unrecorded run; memory that runs out."""

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

PROGRAM = str(Path(__file__).parent / "programs" / "pytorch" / "torch_memory.py")


@pytest.mark.parametrize("network", ["mlp", "conv", "attention"])
def test_peak(network: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, PROGRAM, network, "allocator"], check=True, capture_output=True, timeout=240)
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-m", "breakeven._run", PROGRAM, network], env=env, check=True, timeout=240)
    [file] = tmp_path.glob("*.breakeven.json")
    program = json.loads(file.read_text())["program"]
    # Equal but for what a convolution takes for itself while it runs.
    assert program["peak_bytes"] == pytest.approx(int(done.stdout), rel=0.01)
    assert sum(program["peak_roles"].values()) == program["peak_bytes"]


@pytest.mark.skipif(sys.platform != "linux", reason="what is left of the memory is known on Linux alone")
@pytest.mark.parametrize("fake", [False, True])
def test_too_little_memory_is_told(fake: bool, tmp_path: Path) -> None:
    program = str(Path(PROGRAM).with_name("torch_short.py"))
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(tmp_path)} | ({"BREAKEVEN_FAKE": "1"} if fake else {})
    subprocess.run([sys.executable, "-m", "breakeven._run", program], env=env, check=True, timeout=240)
    [file] = tmp_path.glob("*.breakeven.json")
    told = [u["text"] for u in json.loads(file.read_text())["unseen"] if u["reason"] == "memory-short"]
    assert len(told) == (not fake)
    assert fake or "`--fake`" in told[0]


def test_memory_that_was_refused_is_told(tmp_path: Path) -> None:
    script = tmp_path / "huge.py"
    script.write_text("import torch\ntorch.ones(3)\ntorch.empty(1 << 56, dtype=torch.uint8)\n")
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(tmp_path)}
    plain = subprocess.run([sys.executable, script], capture_output=True, timeout=240)
    command = [sys.executable, "-m", "breakeven._run", str(script)]
    done = subprocess.run(command, env=env, capture_output=True, timeout=240)
    assert (done.returncode, done.stderr) == (plain.returncode, plain.stderr) and done.returncode == 1
    [file] = tmp_path.glob("*.breakeven.json")
    told = [u["text"] for u in json.loads(file.read_text())["unseen"] if u["reason"] == "memory-short"]
    assert told and "`--fake`" in told[0]
