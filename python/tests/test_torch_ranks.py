"""`torch.distributed`: each process is recorded, what they exchange are ops with their bytes, and nothing changes."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is not installed: its recorder is not tested", allow_module_level=True)

PROGRAM = str(Path(__file__).parent / "programs" / "pytorch" / "torch_ranks.py")


def _free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return int(place.getsockname()[1])


def _run(how: str, folder: Path | None, *more: str, **environment: str) -> tuple[int, list[str], list[dict[str, Any]]]:
    """Exit code, lines of output and workloads. On a busy machine ranks can miss each other, recorded or not: a run that
    should end well is then tried again, with what it said on stderr shown if it never does."""
    for _ in range(3):
        code, out, err, files = _once(how, folder, *more, **environment)
        if code == 0 or more:
            break
        print(err)
    return code, out, [json.loads(file.read_text()) for file in files]


def _once(how: str, folder: Path | None, *more: str, **environment: str) -> tuple[int, list[str], str, list[Path]]:
    port = str(_free_port())
    start = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", port] if how == "torchrun" else []
    env = {name: value for name, value in os.environ.items() if not name.startswith("BREAKEVEN_")}
    env |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "OMP_NUM_THREADS": "1"} | environment
    before = []
    if folder is not None:
        for file in folder.glob("*"):
            file.unlink()
        env |= {"BREAKEVEN_RECORD_DIR": str(folder)}
        before = ["-m", "breakeven._run"]
    program = [PROGRAM.replace("ranks", "ranks_cuda")] if environment else [PROGRAM, how]
    command = [sys.executable, *before, *start, *program, *more]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    files = sorted(folder.glob("*.breakeven.json")) if folder is not None else []
    return done.returncode, sorted(done.stdout.splitlines()), done.stderr, files


@pytest.mark.parametrize("how", ["torchrun", "spawn"])
def test_what_ranks_exchange(how: str, tmp_path: Path) -> None:
    code, out, _ = _run(how, None)
    assert code == 0 and len(out) == 2
    traced_code, traced_out, workloads = _run(how, tmp_path)
    assert (traced_code, traced_out) == (code, out)
    ranks = [w for w in workloads if any("collective" in e["op"] for e in w["ops"] if isinstance(e["op"], dict))]
    assert len(ranks) == 2
    for workload in ranks:
        collectives = [e["op"]["collective"] for e in workload["ops"] if "collective" in e["op"]]
        assert {c["ranks"] for c in collectives} == {2}
        sizes = {(c["kind"], c["bytes"]) for c in collectives}
        # `DistributedDataParallel` sums the gradient of 30 × 20 weights and 20 biases.
        assert sizes >= {("all_reduce", 4000), ("broadcast", 40), ("all_gather", 8000), ("all_reduce", 620 * 4)}
        assert [e["count"] for e in workload["ops"] if e["name"] == "c10d.barrier"] == [1]


def test_a_rank_that_fails_fails_as_without_us(tmp_path: Path) -> None:
    assert _run("torchrun", tmp_path, "3")[0] == _run("torchrun", None, "3")[0] != 0


@pytest.mark.parametrize("fake, ones", [("0", 2.0), ("1", 1.0)])
def test_ranks_with_a_gpu_each_need_none(fake: str, ones: float, tmp_path: Path) -> None:
    gpu = json.dumps({"name": "NVIDIA L4", "memory": 24 << 30, "capability": "8.9", "units": 58})
    code, out, workloads = _run("torchrun", tmp_path, BREAKEVEN_PRETEND_GPU=gpu, BREAKEVEN_FAKE=fake)
    assert (code, out) == (0, [f"rank {rank} of 2: {ones} True [0, 1]" for rank in range(2)])
    ranks = [w for w in workloads if any("collective" in e["op"] for e in w["ops"] if isinstance(e["op"], dict))]
    assert len(ranks) == 2
    for workload in ranks:
        exchanged = [(e["count"], e["op"]["collective"]) for e in workload["ops"] if "collective" in e["op"]]
        # 22 gradients in each of three steps, and the four ones.
        assert sum(n * op["bytes"] for n, op in exchanged if op["kind"] == "all_reduce") == 3 * 88 + 16
