"""Advice is held to its word: the edit is made by hand, recorded, estimated; healthy programs are left alone.

Times of the host vary from run to run, so what is compared is the GPU side without the host's own time: launches,
kernels, copies and waits, which follow from counts and sizes alone.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import running

from breakeven import _native

HERE = Path(__file__).parent
#: A GPU for scripts that are written for one.
PRETENDED = json.dumps({"name": "NVIDIA L4", "memory": 24 << 30, "capability": "8.9", "units": 58})
HEALTHY = sorted(path.name for path in (HERE / "healthy").glob("*.py"))
NO_TORCH = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs PyTorch")

pytestmark = pytest.mark.usefixtures("native")


def recorded(script: Path, folder: Path, **environment: str) -> dict[str, Any]:
    """The workload of a script, as `breakeven run` records it. BLAS has one thread: several wait for each other, and
    for whatever else the machine does."""
    folder.mkdir(parents=True, exist_ok=True)
    environment |= {"BREAKEVEN_RECORD_DIR": str(folder / "record"), "BREAKEVEN_RECORDER": "native"}
    environment |= {"OPENBLAS_NUM_THREADS": "1"}
    (folder / "record").mkdir()
    outcome = running.run([sys.executable, "-m", "breakeven._run", str(script)], folder / "run", environment)
    assert outcome.code == 0, outcome.err.decode()
    (workload,) = running.workloads(folder / "record")
    workload["program"]["exit"] = {"code": 0}
    workload["program"].pop("blas_threads", None)  # that is this test's own doing
    return workload


def answer(workload: dict[str, Any], gpu: str | None, warm: bool = True) -> dict[str, Any]:
    """The estimate of a workload."""
    options = {"gpu": [gpu] if gpu else [], "exclude_startup": warm}
    told: dict[str, Any] = json.loads(_native.answer(json.dumps({"workload": workload, "options": options})))
    assert "error" not in told, told
    return told


def advised(told: dict[str, Any], advice: str, side: str) -> dict[str, Any]:
    """That piece of advice."""
    found = [row for row in told["advice"] if (row["id"], row["side"]) == (advice, side)]
    assert found, [(row["id"], row["side"]) for row in told["advice"]]
    return found[0]


def quiet(workload: dict[str, Any]) -> dict[str, Any]:
    """The same program with nothing between its calls: what is left on the GPU side follows from counts and sizes."""
    for entry in workload["ops"]:
        entry["gap_ns"] = 0
    program = workload["program"]
    program["wall_ns"] = sum(entry.get("cpu_ns", 0) for entry in workload["ops"])
    program |= {"startup_ns": 0, "events": 0, "hook_ns": 0.0}
    return workload


def of_the_gpu(parts: dict[str, float]) -> float:
    """Everything but the host's own code, s."""
    return sum(parts.values()) - parts["host"] - parts["startup"]


@pytest.mark.parametrize(
    ("name", "advice", "gpu"),
    [
        ("keep_resident", "keep-resident", "l4"),
        ("hoist_transfers", "hoist-transfers", "l4"),
        ("fewer_syncs", "fewer-syncs", "l4"),
        ("fuse", "fuse", "l4"),
        ("fuse_large", "fuse", "gtx-1050"),
        ("fuse_used", "fuse", "gtx-1050"),
        ("vectorise", "vectorise", "l4"),
        ("float32", "float32", "rtx-3080"),
        ("pinned_overlap", "pinned-overlap", "l4"),
        ("real_fft", "real-fft", "gtx-1050"),
        ("solve", "solve", "l4"),
        pytest.param("larger_batch", "larger-batch", "l4", marks=NO_TORCH),
        pytest.param("mixed_precision", "mixed-precision", "rtx-3080", marks=NO_TORCH),
        pytest.param("tf32", "tf32", "l4", marks=NO_TORCH),
    ],
)
def test_what_an_edit_gains_on_the_gpu(name: str, advice: str, gpu: str, tmp_path: Path) -> None:
    pretend = {"BREAKEVEN_PRETEND_GPU": PRETENDED} if name in ("larger_batch", "mixed_precision", "tf32") else {}
    if name in ("mixed_precision", "tf32"):
        pretend["BREAKEVEN_FAKE"] = "1"  # as large as it is, a CPU would take minutes
    scripts = [HERE / "advice" / f"{name}_{which}.py" for which in ("before", "after")]
    before, after = (
        answer(quiet(recorded(script, tmp_path / script.stem, **pretend)), gpu)["estimates"][0] | {"script": script}
        for script in scripts
    )
    told = answer(quiet(recorded(scripts[0], tmp_path / "again", **pretend)), gpu)
    predicted = of_the_gpu(advised(told, advice, "gpu")["breakdown_s_after"])
    now, then = of_the_gpu(before["breakdown_s"]), of_the_gpu(after["breakdown_s"])
    assert now > 1.2 * then, "the edit helps"
    assert predicted == pytest.approx(then, rel=0.2), f"{now / predicted:.3g}× predicted, {now / then:.3g}× when edited"


# How much is gained depends on the machine and on what else it does: `bench/advice.py` shows that beside the prediction.
@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("float32", "float32"),
        ("in_place", "in-place"),
        ("real_fft", "real-fft"),
        ("solve", "solve"),
        ("vectorise", "vectorise"),
    ],
)
def test_edits_for_the_cpu_are_told_until_they_are_made(name: str, advice: str, tmp_path: Path) -> None:
    before, after = (
        answer(recorded(HERE / "advice" / f"{name}_{which}.py", tmp_path / which), "l4") for which in ("before", "after")
    )
    told = advised(before, advice, "cpu")
    assert 0 < told["time_s_after"]["p50"] < before["baseline"]["time_s"]["p50"]
    assert told["speedup_after"]["p50"] > 1
    assert all((one["id"], one["side"]) != (advice, "cpu") for one in after["advice"])


@pytest.mark.parametrize("name", HEALTHY)
def test_no_false_advice(name: str, tmp_path: Path) -> None:
    if name.startswith("torch_") and importlib.util.find_spec("torch") is None:
        pytest.skip("needs PyTorch")
    workload = recorded(HERE / "healthy" / name, tmp_path)
    for gpu in (None, "l4", "rtx-3080"):
        for warm in (False, True):
            assert answer(workload, gpu, warm)["advice"] == []


def test_the_list_of_healthy_programs_is_whole() -> None:
    page = (HERE / "healthy" / "README.md").read_text()
    listed = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    assert sorted(listed) == HEALTHY and len(HEALTHY) == 20


def test_advice_in_python(tmp_path: Path) -> None:
    from breakeven._estimate import Estimate

    told = Estimate(answer(recorded(HERE / "advice" / "fuse_before.py", tmp_path), "l4"))
    fuse = next(advice for advice in told.advice if advice.id == "fuse")
    assert fuse.saves_s is not None and fuse.saves_s.p10 < fuse.saves_s.p50 < fuse.saves_s.p90
    assert str(fuse).startswith("Fusing the 7 element-wise steps of fuse_before.py:6 → ")
    assert "would help" in str(told) or "Fusing the 7" in str(told)
