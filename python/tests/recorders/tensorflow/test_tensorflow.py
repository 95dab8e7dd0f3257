"""Scripts of TensorFlow and Keras as Python runs them and as they are recorded: output, exit code, arithmetic."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import arithmetic
import pytest

if importlib.util.find_spec("tensorflow") is None:
    pytest.skip("tensorflow is not installed: its recorder is not tested", allow_module_level=True)

SCRIPTS = Path(__file__).parent / "scripts"
#: Products and convolutions of each script, counted by hand: an add and a multiply are two.
FLOP = {
    # Forward and the gradients of weights, in four steps; that of the first layer's input is not needed.
    "dense_fit.py": 4 * 2 * 32 * (2 * 20 * 64 + 3 * 64 * 3),
    "image_fit.py": 2 * 16 * (2 * 10 * 10 * 8 * 9 * 3 + 3 * 200 * 5),
    # Four gates, each step of input and state: forward, and the gradients of weights and state; not of the first input.
    "sequence_fit.py": 2 * 2 * 8 * (10 * 64 * (2 * 6 + 3 * 16) + 3 * 16 * 2),
    "attention_predict.py": 2 * 32 * (4 * 10 * 64 * 64 + 2 * 4 * 10 * 10 * 16),
    "own_loop.py": 5 * 2 * 2 * 100 * 30 * 4,
    "eager.py": 3 * 2 * 50**3,
    "pipeline.py": 3 * 2 * 20 * 4 * 2,
    "rounds.py": 10 * 2 * 16**3,
    # Forward and the gradient of the weights, of 32 rows and of the 18 that are left.
    "last_batch.py": 2 * 2 * 2 * 50 * 20 * 4,
    "given_rounds.py": (3 + 5) * 2 * 16**3,
}


def _run(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *(["-m", "breakeven._run"] if environment else []), str(SCRIPTS / script)]
    env = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"} | environment
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300)


def _recorded(script: str, folder: Path) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    record = folder / "record"
    record.mkdir()
    done = _run(script, folder, BREAKEVEN_RECORD_DIR=str(record))
    (file,) = record.glob("*.breakeven.json")
    return done, json.loads(file.read_text())


def _own_lines(stderr: str) -> list[str]:
    """What is no log of TensorFlow's, which has the time in each line, and names no file made for one run."""
    logs = ("I0000", "W0000", "E0000", "WARNING: All log")
    kept = (line for line in stderr.splitlines() if not line.startswith(logs))
    return [re.sub(r"__autograph_generated_file\w+", "__autograph_generated_file", line) for line in kept]


@pytest.mark.parametrize("script", sorted(path.name for path in SCRIPTS.glob("*.py")))
def test_a_script_is_the_same_recorded(script: str, tmp_path: Path) -> None:
    plain = _run(script, tmp_path)
    recorded, workload = _recorded(script, tmp_path)
    assert (recorded.returncode, recorded.stdout) == (plain.returncode, plain.stdout)
    assert _own_lines(recorded.stderr) == _own_lines(plain.stderr)
    assert "breakeven" not in recorded.stderr
    assert not [unseen for unseen in workload["unseen"] if unseen["reason"] == "hook-failed"]


@pytest.mark.parametrize(("script", "expected"), FLOP.items())
def test_arithmetic_is_as_counted_by_hand(script: str, expected: float, tmp_path: Path) -> None:
    _, workload = _recorded(script, tmp_path)
    found = arithmetic.total(workload, {"matmul", "convolution"}, lambda name: name.startswith("tensorflow."))
    assert found == pytest.approx(expected, rel=0.01)


def test_what_ends_by_its_data_and_what_the_host_does_is_said(tmp_path: Path) -> None:
    _, workload = _recorded("rounds.py", tmp_path)
    assert "tensorflow-rounds" in {unseen["reason"] for unseen in workload["unseen"]}


def test_operations_are_at_the_lines_of_the_script(tmp_path: Path) -> None:
    _, workload = _recorded("eager.py", tmp_path)
    lines = {workload["sites"][e["site"]]["line"] for e in workload["ops"] if e["name"] == "tensorflow.MatMul"}
    assert lines == {8}
    reads = [entry for entry in workload["ops"] if "host_read" in entry["op"]]
    assert sum(entry["count"] for entry in reads) == 3


def test_a_number_that_is_given_says_how_often_a_loop_runs(tmp_path: Path) -> None:
    _, workload = _recorded("given_rounds.py", tmp_path)
    reasons = {unseen["reason"] for unseen in workload["unseen"]}
    assert "tensorflow-rounds" not in reasons
    # It is traced again for each number of Python's, which is start-up and is said.
    (retraced,) = [unseen["text"] for unseen in workload["unseen"] if unseen["reason"] == "tensorflow-retraced"]
    assert retraced.startswith("times was traced 20 times or more") and "reduce_retracing=True" in retraced


ASKS = """import tensorflow as tf
gpus = tf.config.list_physical_devices("GPU")
for gpu in gpus:
    tf.config.experimental.set_memory_growth(gpu, True)
print(len(gpus), tf.test.gpu_device_name())
"""


@pytest.mark.parametrize("pretended", [False, True])
def test_a_script_that_asks_for_a_gpu(pretended: bool, tmp_path: Path) -> None:
    (tmp_path / "asks.py").write_text(ASKS)
    more = {"BREAKEVEN_PRETEND_GPU": json.dumps({"name": "L4", "memory": 24 << 30})} if pretended else {}
    env = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "BREAKEVEN_RECORD_DIR": str(tmp_path)} | more
    command = [sys.executable, "-m", "breakeven._run", "asks.py"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
    assert done.stdout == ("1 /device:GPU:0\n" if pretended else "0 \n"), done.stderr
    (file,) = tmp_path.glob("*.breakeven.json")
    texts = [u["text"] for u in json.loads(file.read_text())["unseen"] if u["reason"] == "gpu-fell-back"]
    assert [text.partition(",")[0] for text in texts] == (
        [] if pretended else ["the script asks TensorFlow for a GPU (asks.py:2)"]
    )
