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


def _run(how: str, folder: Path | None, *more: str, program: Any = None, **environment: str) -> tuple[int, list[str],
    list[dict[str, Any]]]:
    """Exit code, lines of output and workloads. On a busy machine ranks can miss each other, recorded or not: a run
    that should end well is then tried again, with what it said on stderr shown if it never does."""
    for _ in range(3):
        code, out, err, files = _once(how, folder, program, *more, **environment)
        if code == 0 or more:
            break
        print(err)
    return code, out, [json.loads(file.read_text()) for file in files]


def _once(
    how: str, folder: Path | None, program: Any, *more: str, **environment: str
) -> tuple[int, list[str], str, list[Path]]:
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
    command = [sys.executable, *before, *start, *(program or [PROGRAM, how]), *more]
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


GPU = json.dumps({"name": "NVIDIA L4", "memory": 24 << 30, "capability": "8.9", "units": 58})


def _on_gpus(program: str, fake: str, folder: Path) -> tuple[int, list[str], list[list[tuple[int, dict[str, Any]]]]]:
    """Exit code, output, and what each rank exchanged, how often."""
    given = [PROGRAM.replace("ranks", program)]
    code, out, workloads = _run("torchrun", folder, program=given, BREAKEVEN_PRETEND_GPU=GPU, BREAKEVEN_FAKE=fake)
    exchanged = [[(e["count"], e["op"]["collective"]) for e in w["ops"] if "collective" in e["op"]] for w in workloads]
    return code, out, [ops for ops in exchanged if ops]


@pytest.mark.parametrize("fake, ones", [("0", 2.0), ("1", 1.0)])
def test_ranks_with_a_gpu_each_need_none(fake: str, ones: float, tmp_path: Path) -> None:
    code, out, ranks = _on_gpus("ranks_cuda", fake, tmp_path)
    assert (code, out) == (0, [f"rank {rank} of 2: {ones} True [0, 1]" for rank in range(2)])
    assert len(ranks) == 2
    for exchanged in ranks:
        # 22 gradients in each of three steps, and the four ones.
        assert sum(n * op["bytes"] for n, op in exchanged if op["kind"] == "all_reduce") == 3 * 88 + 16


def test_nccl_is_what_ranks_say_they_use(tmp_path: Path) -> None:
    program = tmp_path / "backend.py"
    program.write_text("""import torch
import torch.distributed as dist
dist.init_process_group("nccl")
group = dist.new_group()
try:
    dist.all_reduce(torch.ones(4), group=group)
except RuntimeError as error:
    print(f"{dist.get_backend()} {dist.get_backend(group)} {error}\\n", end="", flush=True)
both = dist.new_group(backend="gloo")
dist.all_reduce(torch.ones(4), group=both)
dist.broadcast_object_list([dist.get_rank()])
dist.destroy_process_group()
""")
    (folder := tmp_path / "record").mkdir()
    code, out, workloads = _run("torchrun", folder, program=[str(program)], BREAKEVEN_PRETEND_GPU=GPU)
    assert (code, out) == (0, ["nccl nccl No backend type associated with device type cpu"] * 2)
    transfers = [[e["op"]["transfer"] for e in w["ops"] if "transfer" in e["op"]] for w in workloads]
    # NCCL sends an object from the GPU: how long it is, and its bytes, of which the one that has it copies both there.
    assert sorted(len([t for t in rank if t["direction"] == "h2d"]) for rank in transfers if rank) == [0, 2]


@pytest.mark.parametrize("fake", ["0", "1"])
def test_gradients_are_exchanged_on_the_gpu(fake: str, tmp_path: Path) -> None:
    program = tmp_path / "exchanged.py"
    program.write_text("""import torch
import torch.distributed as dist
dist.init_process_group("nccl")
network = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8).cuda(), gradient_as_bucket_view=True)
optimizer = torch.optim.SGD(network.parameters(), 0.1)
for _ in range(20):
    optimizer.zero_grad()
    network(torch.ones(4, 8, device="cuda")).sum().backward()
    optimizer.step()
print("done\\n", end="", flush=True)
dist.destroy_process_group()
""")
    (folder := tmp_path / "record").mkdir()
    code, out, workloads = _run("torchrun", folder, program=[str(program)], BREAKEVEN_PRETEND_GPU=GPU,
        BREAKEVEN_FAKE=fake)
    assert (code, out) == (0, ["done"] * 2)
    for workload in (w for w in workloads if any("collective" in e["op"] for e in w["ops"])):
        reduced = [e for e in workload["ops"] if "collective" in e["op"]
            and e["op"]["collective"]["kind"] == "all_reduce"]
        assert all(e["device"].startswith("cuda:") for e in reduced) and sum(e["count"] for e in reduced) == 20
        # The weights and biases, once.
        transfers = [(e["op"]["transfer"]["bytes"], e["count"]) for e in workload["ops"] if "transfer" in e["op"]]
        assert sorted(transfers) == [(32, 1), (256, 1)]


@pytest.mark.parametrize("fake", ["0", "1"])
def test_ranks_that_share_a_network_need_no_gpu(fake: str, tmp_path: Path) -> None:
    code, out, ranks = _on_gpus("ranks_sharded", fake, tmp_path)
    assert (code, out) == (0, [f"rank {rank} of 2: cuda:{rank} cuda:{rank}" for rank in range(2)])
    assert len(ranks) == 2
    for exchanged in ranks:
        kinds = ("all_gather", "reduce_scatter", "all_reduce")
        moved = {kind: sum(n * op["bytes"] for n, op in exchanged if op["kind"] == kind) for kind in kinds}
        # In each of three steps: the first layer's weights twice, as it gives them back in between, the others' once;
        # all gradients; and the results of the other network's second layer, which its halves add up.
        first, last = 4 * (100 * 100 + 100), 4 * (100 * 10 + 10)
        assert moved["all_gather"] == 3 * (2 * first + last)
        assert moved["reduce_scatter"] == 3 * (first + last)
        assert moved["all_reduce"] == 3 * 4 * 32 * 64
