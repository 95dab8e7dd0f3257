"""Recurrent layers are one op for each layer and direction, forward and back, as a GPU runs them; what the script gets
is what it gets of PyTorch alone."""

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

PROGRAM = str(Path(__file__).parent / "programs" / "pytorch" / "torch_recurrent.py")
GPU = {"name": "RTX 4090", "memory": 24 << 30, "units": 128, "capability": "8.9"}


def _run(arguments: list[str], **environment: str) -> str:
    env = os.environ | environment
    done = subprocess.run([sys.executable, *arguments], env=env, capture_output=True, timeout=240)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def _recorded(what: list[str], folder: Path, **environment: str) -> tuple[str, dict[str, Any]]:
    printed = _run(["-m", "breakeven._run", PROGRAM, *what], BREAKEVEN_RECORD_DIR=str(folder), **environment)
    [file] = folder.glob("*.breakeven.json")
    return printed, json.loads(file.read_text())


def _layers(workload: dict[str, Any]) -> list[tuple[str, str, str, dict[str, Any]]]:
    """Name, phase, type, dims of each recurrent op, as often as it ran."""
    found = []
    for entry in workload["ops"]:
        if isinstance(entry["op"], dict) and (dims := entry["op"].get("recurrent")):
            found += [(entry["name"], entry["phase"], entry["dtype"], dims)] * entry["count"]
    return found


def _products(workload: dict[str, Any]) -> list[str]:
    kinds = [next(iter(e["op"])) if isinstance(e["op"], dict) else e["op"] for e in workload["ops"]]
    return [e["name"] for e, kind in zip(workload["ops"], kinds) if kind in ("matmul", "opaque")]


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("how", ["as it is", "pretended", "fake"])
def test_layers_and_directions(kind: str, how: str, tmp_path: Path) -> None:
    pretended = {"BREAKEVEN_PRETEND_GPU": json.dumps(GPU), "BREAKEVEN_FAKE": "1" if how == "fake" else "0"}
    env, place = ({}, []) if how == "as it is" else (pretended, ["cuda"])
    printed, workload = _recorded([kind, *place], tmp_path, **env)
    if how == "as it is":
        assert printed == _run([PROGRAM, kind])
    # On a GPU what is dropped is drawn by a generator of its own.
    assert printed.startswith("torch.Size([6, 3, 32])")
    layers = _layers(workload)
    name = {"LSTM": "aten.lstm", "GRU": "aten.gru", "RNN": "aten.rnn_tanh"}[kind]
    for passed, suffix in (("forward", ""), ("backward", "_backward")):
        mine = [row for row in layers if row[0] == name + suffix]
        assert [row[1] for row in mine] == [passed] * 4
        # PyTorch lets them be computed in TF32 unless it is told not to.
        assert {row[2] for row in mine} == {"tf32"}
        assert sorted(dims["input"] for *_, dims in mine) == [8, 8, 32, 32]
        for *_, dims in mine:
            assert (dims["cell"], dims["pass"]) == (kind.lower(), passed)
            assert (dims["steps"], dims["rows"], dims["hidden"], dims["projection"]) == (6, 18, 16, 0)
    assert len(layers) == 8 and not _products(workload)
    assert "recurrent" not in [unseen["reason"] for unseen in workload["unseen"]]
    if how != "as it is":
        assert all(e["device"] == "cuda:0" for e in workload["ops"] if e["name"].startswith(name))


@pytest.mark.parametrize("fake", ["0", "1"])
def test_sequences_of_different_lengths(fake: str, tmp_path: Path) -> None:
    printed, workload = _recorded(["packed"], tmp_path, BREAKEVEN_FAKE=fake)
    assert printed.startswith("torch.Size([3, 7, 16]) [6, 4, 1]\n")
    assert fake == "1" or printed == _run([PROGRAM, "packed"])
    dims = [row[3] for row in _layers(workload)]
    assert [(d["steps"], d["rows"], d["input"], d["hidden"], d["pass"]) for d in dims] == [
        (6, 11, 8, 16, "forward"),
        (6, 11, 8, 16, "backward"),
    ]


@pytest.mark.parametrize("place", [[], ["cuda"]])
def test_gradients_may_come_of_the_last_state_alone(place: list[str], tmp_path: Path) -> None:
    pretended = {"BREAKEVEN_PRETEND_GPU": json.dumps(GPU)} if place else {}
    printed, workload = _recorded(["states", *place], tmp_path, **pretended)
    assert printed == _run([PROGRAM, "states"])
    dims = [row[3] for row in _layers(workload)]
    assert sorted((d["rows"], d["input"], d["pass"]) for d in dims) == sorted(
        (rows, width, passed) for rows in (11, 18) for width in (8, 16) for passed in ("forward", "backward")
    )
    assert not _products(workload)


def test_a_projection(tmp_path: Path) -> None:
    printed, workload = _recorded(["projected"], tmp_path)
    assert printed == _run([PROGRAM, "projected"])
    dims = [row[3] for row in _layers(workload)]
    assert sorted((d["input"], d["projection"], d["pass"]) for d in dims) == sorted(
        (width, 4, passed) for width in (8, 8, 8, 8) for passed in ("forward", "backward")
    )


def test_the_batch_may_come_first_and_biases_be_missing(tmp_path: Path) -> None:
    printed, workload = _recorded(["first"], tmp_path)
    assert printed == _run([PROGRAM, "first"])
    assert [(n, d["steps"], d["rows"]) for n, _, _, d in _layers(workload)] == [
        ("aten.rnn_relu", 3, 18),
        ("aten.rnn_relu_backward", 3, 18),
    ]


def test_a_hook_of_the_scripts_is_no_part_of_a_layer(tmp_path: Path) -> None:
    printed, workload = _recorded(["hooked"], tmp_path)
    assert printed == _run([PROGRAM, "hooked"])
    assert [e["count"] for e in workload["ops"] if e["name"] == "aten.clamp"] == [1]
    assert [name for name, *_ in _layers(workload)] == ["aten.gru", "aten.gru_backward"]


@pytest.mark.parametrize(("what", "forward", "backward"), [("again", 2, 1), ("twice", 1, 2), ("asked", 1, 0), ("half",
    1, 1)])
def test_calls_and_gradients(what: str, forward: int, backward: int, tmp_path: Path) -> None:
    printed, workload = _recorded([what], tmp_path)
    assert printed == _run([PROGRAM, what])
    layers = _layers(workload)
    passes = [dims["pass"] for *_, dims in layers]
    assert (passes.count("forward"), passes.count("backward")) == (forward, backward)
    assert {row[2] for row in layers} == {"bf16" if what == "half" else "tf32"}
    assert not _products(workload)


def test_a_layer_compiled_by_its_source(tmp_path: Path) -> None:
    printed, _ = _recorded(["compiled"], tmp_path)
    assert printed == _run([PROGRAM, "compiled"])
