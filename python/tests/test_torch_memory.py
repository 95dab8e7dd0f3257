"""Peak memory against what PyTorch's allocator says of itself in an unrecorded run; memory that runs out."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is not installed: its recorder is not tested", allow_module_level=True)

from test_torch_pretend import L4, _run

from breakeven import _native

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


def _record(script: Path, folder: Path, fake: str, limit: int = 0) -> tuple[subprocess.CompletedProcess[str], dict[str,
    list[str]]]:
    """A recorded run with at most `limit` bytes of address space, and what it could not see by reason."""
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(folder),
        "OMP_NUM_THREADS": "1"} | ({"BREAKEVEN_FAKE": fake} if fake else {})
    command = [sys.executable, "-m", "breakeven._run", str(script)]
    if limit:
        command = ["sh", "-c", f'ulimit -v {limit >> 10}; exec "$@"', "sh", *command]
    done = subprocess.run(command, env=env, capture_output=True, timeout=240, text=True)
    [file] = folder.glob("*.breakeven.json")
    told: dict[str, list[str]] = {}
    for unseen in json.loads(file.read_text())["unseen"]:
        told.setdefault(unseen["reason"], []).append(unseen["text"])
    return done, told


def test_asking_for_much_memory_is_none_of_the_scripts_doing(tmp_path: Path) -> None:
    script = tmp_path / "large.py"
    script.write_text("import numpy, torch\nx = torch.randn(1 << 25)\ny = numpy.ones(9) + 1\n")
    done, told = _record(script, tmp_path, "")
    assert done.returncode == 0 and told == {}
    workload = json.loads(next(tmp_path.glob("*.breakeven.json")).read_text())
    assert workload["markers"] == []
    assert workload["ops"][0]["name"] == "aten.randn" and workload["ops"][-1]["name"] == "numpy.add"


linux = pytest.mark.skipif(sys.platform != "linux", reason="what is left of the memory is known on Linux alone")


@linux
@pytest.mark.timed
def test_giving_memory_back_is_no_python_code(tmp_path: Path) -> None:
    script = tmp_path / "freed.py"
    script.write_text(
        "import time, torch\nx = torch.ones(1 << 26)\nspent = 0.0\nfor _ in range(6):\n    y = x + 1\n"
        "    began = time.perf_counter()\n    del y\n    spent += time.perf_counter() - began\nprint(spent)\n"
    )
    done, _ = _record(script, tmp_path, "")
    workload = json.loads(next(tmp_path.glob("*.breakeven.json")).read_text())
    [add] = [op for op in workload["ops"] if op["name"] == "aten.add"]
    assert add["gap_ns"] / 1e9 < float(done.stdout) / 2


STEPS = """import torch
layers = [torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.LayerNorm(64), torch.nn.GELU()) for _ in range(20)]
net = torch.nn.Sequential(*layers).cuda()
optimizer = torch.optim.Adam(net.parameters())
for _ in range(20):
    optimizer.zero_grad()
    net(torch.randn(32, 64, device="cuda")).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.timed
def test_what_python_takes_is_about_the_same_without_values(tmp_path: Path) -> None:
    (tmp_path / "steps.py").write_text(STEPS)

    def gaps(fake: bool, name: str) -> int:
        (tmp_path / name).mkdir()
        workload, _ = _run(tmp_path / "steps.py", tmp_path / name, fake=fake)
        return sum(entry["gap_ns"] for entry in workload["ops"])

    # It was 3.5 times as much or more; all steps are as the watched ones then.
    least = min(gaps(True, f"fake{time}") for time in range(3))
    assert 0.5 < least / min(gaps(False, f"values{time}") for time in range(2)) < 2.5


PICKED = """import itertools, sys
from breakeven.torch import dispatch_mode
if len(sys.argv) > 1:
    took = map(int, itertools.cycle(["0", sys.argv[1]]))
    dispatch_mode.op_took = lambda swept=True: next(took)
import torch
print(dispatch_mode.state.way)
x = torch.ones(64, device="cuda")
for _ in range(200): x[5]
"""


@pytest.mark.parametrize("pretend", [True, False])
def test_the_way_to_the_recorder_and_back_is_none_of_an_op(pretend: bool, tmp_path: Path) -> None:
    script = tmp_path / "picked.py"
    script.write_text(PICKED if pretend else PICKED.replace(', device="cuda"', ""))

    def picked(name: str, *way: str) -> tuple[int, int, int]:
        """The way of an op as it was measured, what the ops took, and what lay between them, ns."""
        (tmp_path / name).mkdir()
        workload, said = _run(script, tmp_path / name, *way, fake=False, pretend=pretend)
        [entry] = [entry for entry in workload["ops"] if entry["name"] == "aten.select"]
        assert entry["count"] == 200
        return int(said), entry["cpu_ns"], entry["gap_ns"]

    # It is measured when PyTorch is imported.
    assert 0 < picked("measured")[0] < 1_000_000
    # If it takes a second it is all that lies between two ops, but never all of an op.
    way, took, between = picked("second", "1000000000")
    assert way == 1_000_000_000 and took > 0 and between == 0
    assert picked("none", "0")[2] > 0


@linux
@pytest.mark.parametrize("fake", ["", "0", "1"])
def test_too_little_memory_is_told(fake: str, tmp_path: Path) -> None:
    done, told = _record(Path(PROGRAM).with_name("torch_short.py"), tmp_path, fake)
    assert done.returncode == 0
    assert ("memory-short" in told, "fake" in told) == (fake == "0", fake != "0")
    assert ("goes on without values" in done.stderr) == (fake == "")


@linux
@pytest.mark.parametrize("where", ["model", "states", "product"])
def test_what_does_not_fit_goes_on_without_values(where: str, tmp_path: Path) -> None:
    script, kept = Path(PROGRAM).with_name("torch_too_large.py"), tmp_path / "weights.pt"
    (tmp_path / "record").mkdir()
    source = script.read_text().replace("WHERE", repr(where)).replace("KEPT",
        repr(str(Path.home() / "no-such-file.pt")))
    (tmp_path / "job.py").write_text(source)
    done, told = _record(tmp_path / "job.py", tmp_path / "record", "", 4 << 30)
    assert done.stdout.splitlines()[:2] == ["begins", "True"], done.stderr
    assert done.stderr.count("goes on without values") == 1 and "(job.py:" in done.stderr
    assert "no-such-file.pt is left as it is" in done.stdout and not kept.exists()
    assert "memory-short" not in told and "job.py:" in told["fake"][0]
    [file] = (tmp_path / "record").glob("*.breakeven.json")
    workload = json.loads(file.read_text())
    assert workload["program"]["recorder"] == "torch-fake"
    if where != "product":
        layers = {"model": 24, "states": 8}[where]
        roles = workload["program"]["peak_roles"]
        assert roles["parameter"] == layers * (4096 * 4096 + 4096) * 4
        assert roles["optimizer state"] == 2 * roles["parameter"]
        products = [e for e in workload["ops"] if isinstance(e["op"], dict) and "matmul" in e["op"]]
        # Five steps, of forward and both gradients; the first layer's input needs none.
        assert sum(e["count"] for e in products) == 5 * (3 * layers - 1)


def test_memory_that_was_refused(tmp_path: Path) -> None:
    huge = "import torch\ntorch.ones(3)\ntorch.empty(1 << 56, dtype=torch.uint8)\n"
    caught = (
        "import torch\ntry:\n    torch.empty(1 << 56, dtype=torch.uint8)\nexcept RuntimeError as e:\n    "
        "print(e)\n"
    )
    for number, (source, fake) in enumerate([(huge, "0"), (caught, ""), (huge, "")]):
        script, folder = tmp_path / "huge.py", tmp_path / str(number)
        script.write_text(source)
        folder.mkdir()
        plain = subprocess.run([sys.executable, script], capture_output=True, timeout=240, text=True)
        done, told = _record(script, folder, fake)
        if (source, fake) == (huge, ""):
            assert done.returncode == 0 and "fake" in told
        else:
            assert (done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, plain.stderr)
            assert "`--fake`" in told["memory-short"][0]


NET = """import torch
from torch import nn
net = nn.Sequential(nn.Linear(512, 512, bias=False), nn.Linear(512, 512, bias=False)).cuda()
x = torch.randn(4, 512, device="cuda")
"""
#: Bytes of each of its matrices.
MATRIX = 512 * 512 * 4
#: What memory is for at its peak: scripts, roles and bytes that can be counted by hand, and how far these may be off.
ROLES = {
    # A soft-max that the loss keeps, and its result; outside of modules.
    "loss": (
        NET + "i = torch.randint(512, (4096,), device='cuda')\nfor _ in range(2):\n"
        "    loss = nn.functional.cross_entropy(net(torch.randn(4096, 512, device='cuda')), i)\n    del loss\n",
        {"parameter": 2 * MATRIX, "input": 4096 * (512 * 4 + 8) + 4 * 512 * 4, "activation": 3 * 4096 * 512 * 4},
        8192,
    ),
    "no modules": (
        "import torch\nw = torch.randn(64, 1024, device='cuda', requires_grad=True)\nx = torch.randn(512, 64, "
        "device='cuda')\n"
        "x = (x - x.mean(0)) / x.std(0)\nh = torch.tanh(x @ w)\n",
        {"input": (64 * 1024 + 512 * 64) * 4, "activation": 2 * 512 * 1024 * 4},
        8192,
    ),
    "cache": (
        "import torch\nw = torch.randn(512, 512, device='cuda')\nx = torch.randn(64, 512, device='cuda')\nkept = []\n"
        "for _ in range(9):\n    kept.append(torch.softmax(x @ w, -1))\nkept = torch.cat(kept)\n",
        {"input": MATRIX + 64 * 512 * 4, "activation": 2 * 9 * 64 * 512 * 4},
        8192,
    ),
    "by hand": (
        NET + "for _ in range(3):\n    net(x).pow(2).mean().backward()\n    with torch.no_grad():\n"
        "        for p in net.parameters():\n            p -= 0.01 * p.grad\n            p.grad.zero_()\n",
        {"parameter": 2 * MATRIX, "gradient": 2 * MATRIX},
        0,
    ),
    "accumulated": (
        NET + "for _ in range(2):\n    net(x).sum().backward()\n", {"parameter": 2 * MATRIX, "gradient": 2 * MATRIX}, 0
    ),
    "leaves": (
        "import torch\nw = torch.randn(512, 512, device='cuda', requires_grad=True)\nfor _ in range(2):\n"
        "    (w.t() @ w).sum().backward()\n",
        {"gradient": MATRIX},
        0,
    ),
    "out of memory": (
        NET.replace("import torch\n", "import torch\ntorch.cuda.set_per_process_memory_fraction((1 << 22) / (24 << "
                                      "30))\n")
        + "kept = torch.empty((1 << 22) - 3 * 512 * 512 * 4 - (64 << 10), dtype=torch.uint8, device='cuda')\ntry:\n"
        "    net(x).sum().backward()\nexcept torch.cuda.OutOfMemoryError:\n    print(net[1].weight.grad is None)\n",
        {"parameter": 2 * MATRIX, "gradient": MATRIX},
        0,
    ),
    "history": (
        "import torch\np = torch.nn.Parameter(torch.randn(1 << 18, device='cuda'))\n"
        "optimizer = torch.optim.LBFGS([p], max_iter=4, history_size=3)\ndef closure():\n    optimizer.zero_grad()\n"
        "    loss = (p ** 4).sum()\n    loss.backward()\n    return loss\nfor _ in range(3):\n    "
        "optimizer.step(closure)\n",
        # Three directions and steps, the direction taken and the gradient before; two of them may have been made for
        # others.
        {"optimizer state": 8 * MATRIX},
        2 * MATRIX,
    ),
}


@pytest.mark.parametrize("case", ROLES)
def test_what_memory_is_for(case: str, tmp_path: Path) -> None:
    source, expected, off = ROLES[case]
    (tmp_path / "roles.py").write_text(source)
    workload, _ = _run(tmp_path / "roles.py", tmp_path)
    roles = workload["program"]["peak_roles"]
    assert {role: roles.get(role) for role in expected} == {
        role: pytest.approx(bytes, abs=off) for role, bytes in expected.items()
    }, roles


TERMS = """import torch
from torch.nn import functional as F
a, b = torch.ones(1 << 18, device="cuda"), torch.ones(1 << 18, device="cuda")
def kept(loss):
    before = torch.cuda.memory_allocated()
    held = loss()
    return torch.cuda.memory_allocated() - before
each = F.mse_loss, F.smooth_l1_loss, F.l1_loss
print([kept(lambda: loss(a, b, reduction=how)) for loss in each for how in ("mean", "sum", "none")])
"""


@pytest.mark.parametrize("fake", [False, True])
def test_two_losses_keep_the_memory_of_their_terms(fake: bool, tmp_path: Path) -> None:
    (tmp_path / "terms.py").write_text(TERMS)
    _, out = _run(tmp_path / "terms.py", tmp_path, fake=fake)
    assert out == f"{[MATRIX] * 6 + [4, 4, MATRIX]}\n"


def test_tangents_that_are_known_to_be_zero_have_no_memory(tmp_path: Path) -> None:
    source = "import torch\nx, v, w = (torch.ones(512, 512, device='cuda') for _ in range(3))\n"
    source += "print(torch.func.jvp(lambda z: z @ w, (x,), (v,))[1].shape)\n"
    (tmp_path / "zero.py").write_text(source)
    workload, _ = _run(tmp_path / "zero.py", tmp_path)
    assert not [entry["name"] for entry in workload["ops"] if entry["op"] == "opaque"]
    # Three arrays, the result, two products and their sum: the second is by what is zero, which is no array of its own.
    assert 7 * MATRIX <= workload["program"]["device_peak_bytes"] < 7.1 * MATRIX


RESIZED = """import torch
used = torch.cuda.memory_allocated
x = torch.ones(1 << 18, device="cuda")
storage = x.untyped_storage()
storage.resize_(0)
print(used(), x.device, x.shape)
storage.resize_(1 << 20)
print(used(), torch.cuda.max_memory_allocated())
storage.resize_(1 << 10)
print(used(), torch.cuda.max_memory_allocated())
host = torch.ones(1 << 10)
host.untyped_storage().resize_(1 << 30)
y = torch.empty(0, device="cuda")
def refused(ask):
    before = used()
    try:
        ask()
    except torch.cuda.OutOfMemoryError as error:
        print(str(error).partition(".")[0], used() == before, torch.cuda.memory_stats()["num_ooms"])
torch.cuda.set_per_process_memory_fraction((1 << 26) / torch.cuda.get_device_properties(0).total_memory)
refused(lambda: y.resize_(1 << 25))
refused(lambda: storage.resize_(1 << 28))
refused(lambda: torch.empty(1 << 20, 1 << 20, device="cuda"))
refused(lambda: torch.empty(0, device="cuda").resize_(1 << 23))
torch.cuda.reset_accumulated_memory_stats()
print(used(), torch.cuda.memory_stats()["num_ooms"])
try:
    torch.frombuffer(bytearray(8), dtype=torch.uint8).untyped_storage().resize_(4)
except RuntimeError as error:
    print(error)
"""


@pytest.mark.parametrize("fake", [False, True])
def test_storages_that_are_resized(fake: bool, tmp_path: Path) -> None:
    (tmp_path / "resized.py").write_text(RESIZED)
    _, out = _run(tmp_path / "resized.py", tmp_path, fake=fake)
    lines = out.splitlines()
    assert lines[:3] == ["0 cuda:0 torch.Size([262144])", "1048576 1048576", "1024 1049600"]
    tried = "CUDA out of memory"
    assert lines[3:6] == [f"{tried} True {number}" for number in (1, 2, 3)]
    assert lines[6] == "1024 0"
    assert fake or "not resizable" in lines[7]


def test_what_an_optimizer_had_made_when_memory_ran_out_is_its_state(tmp_path: Path) -> None:
    script = tmp_path / "short.py"
    script.write_text("""import torch
net = torch.nn.Sequential(*[torch.nn.Linear(1 << 15, 1 << 9, bias=False) for _ in range(150)]).cuda()
net.requires_grad_().zero_grad()
for parameter in net.parameters():
    parameter.grad = torch.zeros_like(parameter)
try:
    torch.optim.Adam(net.parameters()).step()
except torch.cuda.OutOfMemoryError:
    print("short")
""")
    workload, out = _run(script, tmp_path, fake=True)
    roles = workload["program"]["peak_roles"]
    each = 150 * (4 << 24)
    assert out == "short\n" and roles["parameter"] == roles["gradient"] == each
    assert roles["optimizer state"] >= (24 << 30) - 2 * each - (4 << 24) and "temporary" not in roles


@pytest.mark.parametrize("fake", [False, True])
def test_what_a_model_had_when_memory_ran_out_is_parameters(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "building.py"
    script.write_text("""import torch
torch.cuda.set_per_process_memory_fraction(0.001)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.ones(512, 512))
        self.layers = torch.nn.ModuleList(torch.nn.Linear(512, 512, bias=False) for _ in range(99))
try:
    with torch.device("cuda"):
        Net()
except torch.cuda.OutOfMemoryError:
    print("short")
""")
    workload, out = _run(script, tmp_path, fake=fake)
    assert out == "short\n" and set(workload["program"]["peak_roles"]) == {"parameter"}


@pytest.mark.parametrize("pretend", [False, True])
def test_only_an_op_itself_asks_a_library_what_shape_it_gives(pretend: bool, tmp_path: Path) -> None:
    """Not whether there is room for it."""
    script = tmp_path / "op.py"
    script.write_text("""import torch
library = torch.library.Library("counted", "DEF")
library.define("pairs(Tensor x, Tensor y) -> Tensor")
@torch.library.impl("counted::pairs", "CPU", lib=library)
def pairs(x, y):
    return x[None] + y[:, None]
@torch.library.impl("counted::pairs", "Meta", lib=library)
def shape(x, y):
    raise RuntimeError("this needs values")
print(torch.ops.counted.pairs(torch.ones(3000), torch.ones(3000)).shape)
""")
    _, out = _run(script, tmp_path, pretend=pretend)
    assert out == "torch.Size([3000, 3000])\n"


SMALLER = """import sys, torch
from torch import nn
from torch.utils.checkpoint import checkpoint

class Again(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
    def forward(self, x):
        return checkpoint(self.inner, x, use_reentrant=False)

class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.conv = nn.BatchNorm2d(width), nn.Conv2d(width, width, 3, padding=1)
    def forward(self, x):
        return x + self.conv(self.norm(x).relu())

kind, how = sys.argv[1:3]
if "bfloat16" in how:
    torch.set_default_dtype(torch.bfloat16)
block = {
    "mlp": lambda: nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)),
    "conv": lambda: Residual(64),
}[kind]
x = torch.randn(*((65536, 1024) if kind == "mlp" else (256, 64, 128, 128)), device="cuda")
net = nn.Sequential(*(Again(block()) if "checkpointing" in how else block() for _ in range(12))).cuda()
optimizer = torch.optim.AdamW(net.parameters())
for _ in range(2):
    optimizer.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize("kind", ["mlp", "conv"])
def test_what_a_network_would_take_with_less_kept(kind: str, tmp_path: Path) -> None:
    script = tmp_path / "smaller.py"
    script.write_text(SMALLER)
    h200 = L4 | {"name": "NVIDIA H200", "memory": 141 << 30}

    def recorded(how: str) -> dict[str, Any]:
        folder = tmp_path / (how.replace(" ", "-") or "plain")
        folder.mkdir()
        workload, _ = _run(script, folder, kind, how, fake=True, gpu=h200)
        return workload  # type: ignore[no-any-return]

    plain = recorded("")
    for gpu, way in (("L4", "with activation checkpointing"), ("GTX 1650",
        "in bfloat16 with activation checkpointing")):
        [turns] = json.loads(_native.answer(json.dumps({"workload": plain, "options": {"gpu": [gpu]}})))["robustness"]
        told = re.fullmatch(rf"it would fit if .*; (even )?{way} they take about ([\d.]+) GiB", turns["text"])
        assert told, turns
        taken = recorded(way)["program"]["device_peak_bytes"] / (1 << 30)
        assert 1 < float(told[2]) / taken < 1.25
