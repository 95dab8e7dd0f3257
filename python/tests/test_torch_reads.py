"""Values that the host reads off a GPU: by Python, by PyTorch's own C++, by optimizers; in steps watched and not."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is not installed: its recorder is not tested", allow_module_level=True)

from test_torch_pretend import _copies, _run

#: Counts what the dispatcher is told of, with tensors on the CPU.
PLAIN = """
import runpy, sys
import torch
from torch.utils._python_dispatch import TorchDispatchMode
class Count(TorchDispatchMode):
    reads = 0
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        Count.reads += func is torch.ops.aten._local_scalar_dense.default
        return func(*args, **(kwargs or {}))
with Count():
    runpy.run_path(sys.argv[1])
print(Count.reads)
"""
LOOP = """
import sys
import torch
torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
x, y = torch.randn(64, 8, device=device), torch.randn(64, 1, device=device)
net = torch.nn.Linear(8, 1).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
scale = torch.tensor(0.5, device=device)
"""
STEP = """
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
"""
SCRIPTS = {
    # An optimizer that decides by its gradients, and hands values on to C++.
    "optimizer": LOOP.replace("SGD(net.parameters(), lr=0.01)", "LBFGS(net.parameters(), lr=1e-3, max_iter=3, "
    "history_size=2)")
    + """
def closure():
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(net(x), y)
    loss.backward()
    return loss
for step in range(40):
    optimizer.step(closure)
""",
    "in C++": LOOP + "for step in range(200):\n    x.add_(1.0, alpha=scale)" + STEP,
    "by another function": LOOP
    + "plain = torch.Tensor.item\ntorch.Tensor.item = lambda tensor: plain(tensor)\nfor step in range(200):"
    + STEP
    + "    loss.item()\n",
    "now and then": LOOP
    + "for step in range(200):"
    + STEP
    + "    if step % 7 == 3:\n        x.mul_(float(loss) * 0 + 1)\n    if loss < 0:\n        break\n",
    # Made in a step that nobody watches, read on a line that no watched step came to.
    "seldom": LOOP
    + "for step in range(200):"
    + STEP
    + "    norm = torch.stack([p.grad.norm() for p in net.parameters()]).norm()\n    if step % 5 == 4:\n        "
      "norm.item()\n",
    "own counters": LOOP.replace("SGD", "Adam") + "for step in range(200):" + STEP,
}


@pytest.mark.parametrize("which", SCRIPTS)
def test_each_value_read_is_a_copy_back(which: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPTS[which])
    plain = subprocess.run(
        [sys.executable, "-c", PLAIN, str(script)], capture_output=True, text=True, timeout=240, check=True
    )
    truth = int(plain.stdout.split()[-1])
    workload, _ = _run(script, tmp_path)
    assert workload["program"]["sampling"] > 1, "no step went unwatched"
    if which == "own counters":
        assert truth > 0 and _copies(workload, "d2h") == []
    else:
        assert len(_copies(workload, "d2h")) == truth


def test_each_wait_is_one_and_no_clock_is_the_scripts(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        LOOP
        + "stream, event = torch.cuda.Stream(), torch.cuda.Event()\nfor step in range(200):\n    "
          "torch.cuda.synchronize()"
        + STEP
        + "    event.record()\n    event.synchronize()\n    stream.wait_stream(torch.cuda.current_stream())\n"
    )
    workload, _ = _run(script, tmp_path)
    assert workload["program"]["sampling"] > 1
    counts: dict[str, int] = {}
    for entry in workload["ops"]:
        counts[entry["name"]] = counts.get(entry["name"], 0) + entry["count"]
    names = ("torch.cuda.synchronize", "torch.cuda.Event.synchronize", "torch.cuda.Stream.wait_stream")
    assert [counts[name] for name in names] == [200, 200, 200]
    assert {marker["clock"] for marker in workload.get("markers", [])} <= {"cuda.Event.record"}


def test_labels_of_a_loader_stay_on_the_host(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""
import torch
from torch.utils.data import DataLoader, TensorDataset
data = TensorDataset(torch.randn(400, 8), torch.randint(0, 4, (400,)))
net = torch.nn.Linear(8, 4).cuda().eval()
labels, guesses = [], []
with torch.no_grad():
    for x, y in DataLoader(data, batch_size=4):
        guesses.append(net(x.cuda()).argmax(1).cpu())
        labels.append(y)
print(labels[-1][0].item() < 4, labels[-1].numpy().shape)
print(torch.cat(labels).numpy().shape, (torch.cat(guesses) == torch.cat(labels)).numpy().dtype)
""")
    workload, out = _run(script, tmp_path)
    assert workload["program"]["sampling"] > 1
    assert out.splitlines() == ["True (4,)", "(400,) bool"]
    assert _copies(workload, "h2d")[-100:] == [4 * 8 * 4] * 100


def test_streams_profilers_and_data_parallel(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""
import torch
from torch.profiler import ProfilerActivity, profile
net = torch.nn.DataParallel(torch.nn.Linear(64, 32)).cuda()
x = torch.randn(16, 64)
y = net(x)
print(tuple(y.shape), y.device)
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiled:
    net(y.new_ones(16, 64)).sum().backward()
print("aten::addmm" in profiled.key_averages().table(sort_by="cuda_time_total"))
stream, event = torch.Stream(device="cuda"), torch.Event(device="cuda", enable_timing=True)
with stream:
    event.record(stream)
print(isinstance(torch.cuda.current_stream(), torch.cuda.Stream), torch.cuda.current_stream() == stream)
for end in (torch.cuda.Event(), torch.cuda.Event(enable_timing=True)):
    try:
        event.elapsed_time(end)
    except ValueError as error:
        print(error)
with torch.cuda.nvtx.range("here"):
    torch.cuda.synchronize()
""")
    workload, out = _run(script, tmp_path)
    assert out.splitlines() == [
        "(16, 32) cuda:0",
        "True",
        "True False",
        "Both events must be created with argument 'enable_timing=True'.",
        "Both events must be recorded before calculating elapsed time.",
    ]
    assert _copies(workload, "h2d") == [64 * 32 * 4, 32 * 4, 16 * 64 * 4]


@pytest.mark.parametrize("stays", [False, True])
def test_the_order_of_samples_is_the_hosts_with_workers_too(stays: bool, tmp_path: Path) -> None:
    script = tmp_path / "order.py"
    script.write_text(f"""import torch
from torch.utils.data import DataLoader, TensorDataset
net = torch.nn.Linear(4, 2)
loader = DataLoader(TensorDataset(torch.randn(64, 4)), 16, shuffle=True, num_workers=1, persistent_workers={stays})
for _ in range(3):
    for [rows] in loader:
        net(rows)
""")
    workload, _ = _run(script, tmp_path, pretend=False)
    orders = [entry for entry in workload["ops"] if entry["name"] == "aten.randperm"]
    assert sum(entry["count"] for entry in orders) == 3 and {entry.get("phase") for entry in orders} == {"data"}
    read = [entry for entry in workload["ops"] if "host_read" in entry["op"] and entry.get("phase") != "data"]
    assert not read
