"""The classic small loop, recorded: exact counts, and nothing of it changed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from running import traced, untraced, workloads

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is not installed: its recorder is not tested", allow_module_level=True)


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("loop")
    plain = untraced(folder / "at", ["torch_loop.py"])
    seen = traced(folder / "at", ["torch_loop.py"], "native", folder / "record")
    assert (plain.code, plain.out, plain.err) == (seen.code, seen.out, seen.err)
    [workload] = workloads(folder / "record")
    return workload


def _flop(entry: dict[str, Any]) -> int:
    product = entry["op"]["matmul"]
    return 2 * int(product["m"] * product["n"] * product["k"] * product["batch"])


def test_products_of_a_step(loop: dict[str, Any]) -> None:
    products = [e for e in loop["ops"] if "matmul" in e["op"]]
    assert sum(_flop(e) * e["count"] for e in products) == 1000 * 8000
    assert {e["phase"] for e in products} == {"forward", "backward"}


def test_every_step_counts_though_few_were_watched(loop: dict[str, Any]) -> None:
    steps = [e["count"] for e in loop["ops"] if e.get("phase") == "backward"]
    assert steps and set(steps) == {1000}
    assert loop["program"]["sampling"] > 20
    assert not [u for u in loop["unseen"] if u["reason"] != "step-differs"]


def test_parts_of_a_step(loop: dict[str, Any]) -> None:
    assert {e.get("phase") for e in loop["ops"]} == {None, "forward", "backward", "optimizer", "data"}
    lines = {e["phase"]: loop["sites"][e["site"]]["text"] for e in loop["ops"] if e.get("phase")}
    assert lines["backward"] == "loss.backward()" and lines["optimizer"] == "optimizer.step()"


def test_what_a_gpu_would_be_sent(loop: dict[str, Any]) -> None:
    copies = [e["op"]["transfer"] for e in loop["ops"] if isinstance(e["op"], dict) and "transfer" in e["op"]]
    assert [(c["direction"], c["bytes"]) for c in copies] == [("h2d", n) for n in (4000, 800, 80, 8)]
    assert not [e for e in loop["ops"] if isinstance(e["op"], dict) and "host_read" in e["op"]]
    assert sum(e["host_input_bytes"] for e in loop["ops"]) == 0


def test_memory_by_what_it_is_for(loop: dict[str, Any]) -> None:
    roles = loop["program"]["peak_roles"]
    assert roles["parameter"] == 22 * 4
    assert sum(roles.values()) == loop["program"]["peak_bytes"]
    assert {b["role"] for b in loop["buffers"] if "role" in b} >= {"parameter", "gradient", "optimizer state", "input"}
