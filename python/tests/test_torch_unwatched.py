"""What steps make that go unwatched: known as if all had been watched."""

from __future__ import annotations

import collections
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is not installed: its recorder is not tested", allow_module_level=True)

from running import untraced
from test_torch_pretend import L4, _copies, _run

#: With this no step goes unwatched.
ALL = "import sys\nimport torch\nsys.modules['breakeven.torch.steps.sampler']._repeats = lambda: 0\n"


def counts_of_both(program: str, folder: Path, **how: Any) -> list[collections.Counter[Any]]:
    """How often each op (its name and what it is) ran on each side at each line of a program whose steps go
    unwatched; and the same where they are all watched."""
    found = []
    for each in (False, True):
        inside = folder / str(each)
        inside.mkdir()
        script = inside / "script.py"
        script.write_text((ALL if each else "\n" * ALL.count("\n")) + program)
        workload, _ = _run(script, inside, **how)
        # A step that a busy machine held up is watched, and the next ones.
        assert (workload["program"].get("sampling", 1) > 2) != each
        counts: collections.Counter[Any] = collections.Counter()
        for entry in workload["ops"]:
            if entry.get("phase") == "data" and "host_read" in entry["op"]:
                continue  # what the host has, which unwatched steps do not tell
            line = workload["sites"][entry["site"]]["line"]
            counts[entry["name"], json.dumps(entry["op"]), entry.get("device"), line] += entry["count"]
        found.append(counts)
    return found


BEGIN = """
import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(100, 200), torch.nn.ReLU(), torch.nn.Linear(200, 10)).to(device)
x, y = torch.randn(16, 100, device=device), torch.randn(16, 10, device=device)
"""
TRAIN = """
optimizer = torch.optim.{}
losses = []
for step in range(100):
    optimizer.zero_grad(set_to_none=True)
    result = net(x)
    loss = ((result - y) ** 2).mean()
    loss.backward()
    optimizer.step()
    losses.append(loss.detach())
"""
SCRIPTS = {
    "losses": BEGIN
    + TRAIN.format("Adam(net.parameters())")
    + "print(losses[-1].is_cuda, result.is_cuda, net[0].weight.grad.is_cuda)\n"
    "print(torch.stack(losses).mean().item() > 0, result.norm().item() > 0, net[0].weight.grad.norm().item() > 0)\n",
    # Drops its gradients in each step, which live beside an evaluation that is larger than a step.
    "gradients": BEGIN
    + TRAIN.format("SGD(net.parameters(), lr=1e-3)")
    + "with torch.no_grad():\n    print(net(torch.randn(400, 100, device=device)).shape)\n",
    "predictions": BEGIN
    + """
from torch.utils.data import DataLoader, TensorDataset
data = TensorDataset(torch.randn(3200, 100), torch.randint(0, 10, (3200,)))
labels, guesses = [], []
with torch.no_grad():
    for x, y in DataLoader(data, batch_size=32):
        labels.append(y)
        guesses.append(net(x.to(device)).argmax(1))
print(labels[-1].device, guesses[-1].device, torch.cat(guesses).device, torch.cat(labels).numpy().shape)
try:
    print((torch.cat(guesses) == torch.cat(labels)).sum() > 0)
except RuntimeError:
    print("two devices")
try:
    print(guesses[-1].numpy().shape)
except TypeError:
    print("a GPU's")
print((torch.cat(guesses).cpu() == torch.cat(labels)).float().mean().item() > 0)
""",
    "results": BEGIN
    + TRAIN.format("SGD(net.parameters(), lr=1e-3)").replace("losses.append(loss.detach())",
    "losses.append(result.detach())")
    + "print(len(losses))\n",
    # Of the size of what steps leave, and the host's all the same.
    "files": BEGIN
    + TRAIN.format("SGD(net.parameters(), lr=1e-3, momentum=0.9)")
    + """
import io
import numpy
file = io.BytesIO()
torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, file)
file.seek(0)
read = torch.load(file, map_location="cpu")
print(read["net"]["0.weight"].device, torch.tensor(0.5).device)
net.load_state_dict(read["net"])
rows = torch.from_numpy(numpy.zeros((16, 10), numpy.float32))
print(rows.device, net[2](torch.zeros(16, 200, device=device)).sub(rows.to(device)).sum().item() != 0)
""",
    # Its first op is missed without `--pretend-gpu`, and what that makes is no input of the host's.
    "validation": BEGIN
    + TRAIN.format("SGD(net.parameters(), lr=1e-3)")
    + "with torch.no_grad():\n    rows = torch.randn(2000, 100, device=device)\n    print(net(rows).sum().item() != "
      "0)\n",
    "inputs": BEGIN + "with torch.no_grad():\n    for step in range(200):\n        z = net(torch.randn(16, 100, "
                      "device=device))\n",
    # The host fills what is of the size of what the steps make on the device.
    "filled": BEGIN
    + """
import numpy
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(60):
    result = net(x)
    target = torch.from_numpy(numpy.zeros((16, 10), numpy.float32))
    rate, weight = torch.tensor(0.5, device=device), torch.tensor(float(step)).to(device)
    rows = torch.tensor([[1.0] * 10] * 16).to(device)
    loss = ((result - target.to(device)) ** 2).mean() * rate * weight + rows.sum() * result.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(target.device, target.is_cuda, target.numpy().shape, rows.device, rate.device)
""",
    "history": BEGIN
    + """
# Large enough that none of the updates is left out, which would be another step.
optimizer = torch.optim.LBFGS(net.parameters(), lr=1e-3, max_iter=3, history_size=2)
def closure():
    optimizer.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    return loss
for step in range(18):
    optimizer.step(closure)
""",
    "epochs": BEGIN
    + """
from torch.utils.data import DataLoader, TensorDataset
train = DataLoader(TensorDataset(torch.randn(320, 100), torch.randn(320, 10)), batch_size=32, shuffle=True)
test = DataLoader(TensorDataset(torch.randn(64, 100), torch.randn(64, 10)), batch_size=32)
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(12):
    total = 0.0
    for x, y in train:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        total += loss.item()
    with torch.no_grad():
        for x, y in test:
            total += ((net(x.to(device)) - y.to(device)) ** 2).sum().item()
""",
    # Sums that begin anew in every epoch, in steps that nobody watches, and go on in some that are.
    "totals": BEGIN
    + """
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for epoch in range(10):
    right, total, losses = 0, 0.0, []
    for step in range(40):
        result = net(x)
        loss = ((result - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += (result.argmax(1) == y.argmax(1)).sum()
        total += loss.detach()
        losses.append(loss.detach())
    print((right / 640).item() >= 0, (total / 40).item() > 0, torch.stack(losses).cpu().shape)
""",
    # After the optimizer's step, which ends one here, comes what waits; the loop is left within a step.
    "tails": BEGIN
    + """
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
odd = torch.arange(16, device=device) % 2 == 1
for epoch in range(2):
    for step in range(1000):
        loss = ((net(x)[odd] - y[odd]) ** 2).mean()
        if step == 70 + epoch:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rows, places = y[odd] * loss.detach(), odd.nonzero()
    print(rows.shape, places.shape)
""",
}


def _told(script: Path, folder: Path, pretend: bool) -> tuple[str, dict[str, int], dict[str, int], int, Any]:
    """Output; copies and their bytes; the most memory; one step in how many was watched."""
    folder.mkdir()
    workload, out = _run(script, folder, pretend=pretend)
    counts: dict[str, int] = collections.Counter()
    sizes: dict[str, int] = collections.Counter()
    for direction in ("h2d", "d2h"):
        copies = _copies(workload, direction)
        counts[direction], sizes[direction] = len(copies), sum(copies)
    for entry in workload["ops"] if not pretend else ():
        if "host_read" in entry["op"]:
            counts["read"] += entry["count"]
        # What a script without a GPU would have to copy to one.
        sizes["input"] += entry.get("host_input_bytes", 0)
    program = workload["program"]
    return out, counts, sizes, program["device_peak_bytes" if pretend else "peak_bytes"], program["sampling"]


@pytest.mark.parametrize("pretend", [True, False])
@pytest.mark.parametrize("which", SCRIPTS)
def test_what_unwatched_steps_leave_is_known(which: str, pretend: bool, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPTS[which])
    *told, peak, sampling = _told(script, tmp_path / "told", pretend)
    script.write_text(ALL + SCRIPTS[which])
    *truth, most, all_watched = _told(script, tmp_path / "all", pretend)
    assert sampling > 1 and all_watched == 1
    assert told == truth
    # The step that was looked at had another batch beside it.
    assert abs(peak - most) <= 0.05 * most


def test_memory_that_steps_keep_is_counted(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        BEGIN
        + """
kept, told = [], []
with torch.no_grad():
    for step in range(60):
        kept.append(net(x))
        if step % 20 == 19:
            told.append(torch.cuda.memory_allocated())
print(told[1] - told[0], told[2] - told[1])
"""
    )
    workload, out = _run(script, tmp_path)
    assert workload["program"]["sampling"] > 1
    assert out.split() == 2 * [str(20 * 16 * 10 * 4)]


def test_what_does_not_fit_in_the_end_is_refused_as_a_gpu_would(tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        BEGIN
        + """
kept = []
try:
    with torch.no_grad():
        for step in range(1000):
            kept.append(net(torch.randn(2048, 100, device=device)))
except torch.cuda.OutOfMemoryError:
    print(len(kept))
"""
    )
    monkeypatch.setitem(L4, "memory", 8 << 20)
    _, out = _run(script, tmp_path)
    # Beside weights, an input, and what lives within a step, which leaves room for so many results.
    within = sum(4 * n for n in (2048 * 100, 2 * 2048 * 200, 100 * 200 + 200 + 200 * 10 + 10, 2 * 16 * 110))
    assert abs(int(out) - ((8 << 20) - within) // (2048 * 10 * 4)) <= 2


def test_what_ops_copy_to_the_gpu_is_counted_in_steps_that_go_unwatched(tmp_path: Path) -> None:
    script = tmp_path / "batches.py"
    script.write_text(
        "import torch\n"
        "x, net = torch.randn(256, 8, device='cuda'), torch.nn.Linear(8, 1, device='cuda')\n"
        "optimizer, order = torch.optim.SGD(net.parameters(), lr=1e-3), torch.randperm(256)\n"
        "odd = torch.arange(256) % 2 == 1\n"
        "for step in range(80):\n"
        "    loss = net(x[order[:32]]).mean() + x[[1, 2, 3]].mean() + x[odd].mean()\n"
        "    optimizer.zero_grad()\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
    )
    for fake in (False, True):
        folder = tmp_path / str(fake)
        folder.mkdir()
        workload, _ = _run(script, folder, fake=fake)
        assert workload["program"]["sampling"] > 4, "steps go unwatched"
        assert collections.Counter(_copies(workload, "h2d")) == {256: 80, 24: 80, 1024: 80}


@pytest.mark.parametrize("pretend", [False, True])
def test_a_network_that_the_script_is_done_with_is_gone(pretend: bool, tmp_path: Path) -> None:
    script = tmp_path / "gone.py"
    script.write_text(
        "import torch, weakref\n"
        "device = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
        "for size in (1000, 1000):\n"
        "    net = torch.nn.Linear(size, size, bias=False).to(device)\n"
        "    net(torch.ones(1, size, device=device)).sum().backward()\n"
        "    seen = weakref.ref(net.weight)\n"
        "    del net\n"
        "    print(seen() is None)\n"
    )
    workload, out = _run(script, tmp_path, pretend=pretend)
    assert out.split() == ["True", "True"]
    assert workload["program"]["peak_bytes"] < 9_000_000, "weight and gradient of one of them"


def test_without_values_a_counter_of_the_host_is_no_value_read(tmp_path: Path) -> None:
    script = tmp_path / "average.py"
    script.write_text(
        "import torch\n"
        "from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn\n"
        "net, x = torch.nn.Linear(8, 1, device='cuda'), torch.randn(32, 8, device='cuda')\n"
        "average = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.99))\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)\n"
        "for step in range(40):\n"
        "    optimizer.zero_grad()\n"
        "    net(x).mean().backward()\n"
        "    optimizer.step()\n"
        "    average.update_parameters(net)\n"
    )
    workload, _ = _run(script, tmp_path, fake=True)
    assert workload["program"]["sampling"] > 4, "steps go unwatched"
    assert _copies(workload, "d2h") == []
    assert _copies(workload, "h2d") == [8] * 39


@pytest.mark.parametrize("which", ["values", "fake", "plain"])
def test_what_crosses_is_as_in_steps_that_are_watched(which: str, tmp_path: Path) -> None:
    program = (Path(__file__).parent / "programs" / "pytorch" / "torch_crossings.py").read_text()
    found = []
    for counts in counts_of_both(program, tmp_path, fake=which == "fake", pretend=which != "plain"):
        crossing = {key: count for key, count in counts.items() if "transfer" in key[1] or "host_read" in key[1]}
        found.append({key: count for key, count in crossing.items() if key[2] or which == "plain"})
    assert found[0] == found[1]
    assert len(found[0]) > (30 if which == "plain" else 60)


@pytest.mark.parametrize("on", ["cuda", "host"])
def test_what_networks_and_data_sets_do_by_themselves_crosses(on: str, tmp_path: Path) -> None:
    program = (Path(__file__).parent / "programs" / "pytorch" / "torch_within.py").read_text()
    if on == "host":
        rows = "return self.rows[i].to(device), torch.tensor(float(i % 4), device=device)"
        assert rows in program
        program = program.replace(rows, "return self.rows[i], torch.tensor(float(i % 4))")
        program = program.replace("        optimizer.zero_grad()\n", "        x, y = x.to(device), y.to(device)\n     "
            "   optimizer.zero_grad()\n")
    found = []
    for counts in counts_of_both(program, tmp_path, pretend=True):
        found.append({key: count for key, count in counts.items() if "transfer" in key[1] or "host_read" in key[1]})
    assert found[0] == found[1]
    assert sum(found[0].values()) > 400

ONE_LINE = """
import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
net = torch.nn.Linear(8, 2).to(device)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
rows, aims = torch.randn(640, 8), torch.randn(640, 2)
largest, kept = torch.zeros((), device=device), []
def value(tensor):
    return tensor.item()
def part(of, at):
    return of[at : at + 32].to(device)
for step in range(120):
    at = step % 20 * 32
    x, y = part(rows, at), part(aims, at)
    loss = ((net(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    largest = torch.maximum(largest, loss.detach())
    found = value(loss) + value(loss.detach()) + value(largest) + float(loss)
    if step % 3 == 0:
        found += value(x.mean()) + value(loss.detach().double())
    kept.append(x.mean())
print(found < 1e9, value(kept[70]) < 1e9)
"""


@pytest.mark.parametrize("pretend", [False, True])
def test_one_instruction_may_read_and_move_several_things(pretend: bool, tmp_path: Path) -> None:
    some, all_of_them = counts_of_both(ONE_LINE, tmp_path, pretend=pretend)
    assert some == all_of_them


@pytest.mark.parametrize("pretend", [False, True])
def test_steps_that_read_either_side_at_one_instruction_are_watched(pretend: bool, tmp_path: Path) -> None:
    """Nothing else tells which of the values is where, as both are of one size and type."""
    program = ONE_LINE.replace("+ float(loss)\n", "+ float(loss) + value(aims.sum())\n")
    assert program != ONE_LINE
    script = tmp_path / "either.py"
    script.write_text(program)
    workload, _ = _run(script, tmp_path, pretend=pretend)
    assert workload["program"].get("sampling", 1) == 1
    read: collections.Counter[str | None] = collections.Counter()
    for entry in workload["ops"]:
        if "host_read" in entry["op"] and workload["sites"][entry["site"]]["function"] == "value":
            read[entry.get("device")] += entry["count"]
    there = 3 * 120 + 2 * 40 + 1
    assert read == ({"cuda:0": there, None: 120} if pretend else {None: there})


NET = """
import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
net = torch.nn.Linear(8, 2).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
x, y = torch.randn(32, 8, device=device), torch.randn(32, 2, device=device)
def train():
    loss = ((net(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()
"""
#: What a step reads and moves one way that it does another way, too, or in the midst of something else.
ALIKE = {
    "there and back": "rows = [torch.randn(32, 8) for _ in range(4)]\nfor step in range(120):\n    x = rows[step % 4]\n"
    "    x = x.to(device)\n    train()\n    x = x.cpu()\n",
    "printed": "lines = []\nfor step in range(120):\n    loss = train()\n    lines += f'{loss}', f'{loss[None]}', "
               "f'{loss:.3f}', str(loss)\n",
    "of a library": "code = compile('def both(a, b):\\n    a.item()\\n    return b.mean().item()', "
                    "'/site-packages/kept.py', 'exec')\n"
    "exec(code, names := {})\nhost = torch.rand(40)\nfor step in range(120):\n    names['both'](train(), host)\n",
}


@pytest.mark.parametrize("which", ALIKE)
def test_reads_and_copies_that_look_alike_are_told_apart(which: str, tmp_path: Path) -> None:
    found = []
    for counts in counts_of_both(NET + ALIKE[which], tmp_path, pretend=False):
        found.append({key: count for key, count in counts.items() if "transfer" in key[1] or "host_read" in key[1]})
    assert found[0] == found[1]
    assert sum(found[0].values()) > 120


def test_a_process_that_a_step_forks_tells_of_the_steps_that_it_makes(tmp_path: Path) -> None:
    script = tmp_path / "forks.py"
    script.write_text(
        NET + "import os\nfor step in range(200):\n    train()\n    if step == 149:\n        child = os.fork()\nif "
              "child:\n    os.wait()\n"
    )
    _run(script, tmp_path, pretend=False)
    all_ops = [json.loads(file.read_text())["ops"] for file in tmp_path.glob("*.breakeven.json")]
    losses = [{entry["count"] for entry in ops if entry["name"] == "aten.mean"} for ops in all_ops]
    assert sorted(losses, key=sum) == [{50}, {200}]


def test_a_process_that_a_step_forks_reads_as_its_parent_does(tmp_path: Path) -> None:
    script = tmp_path / "forks.py"
    script.write_text(
        NET
        + "import os\ndef value(tensor):\n    return tensor.item()\nfor step in range(120):\n    loss = train()\n    "
          "value(loss)\n"
        "    if step % 50 == 49 and os.fork() == 0:\n        print(value(loss) > 0, flush=True)\n        os._exit(0)\n"
        "while True:\n    try:\n        print(os.wait()[1])\n    except ChildProcessError:\n        break\n"
    )
    _, out = _run(script, tmp_path, pretend=False)
    assert sorted(out.split()) == ["0", "0", "True", "True"]


BACK = """
import torch
from torch.overrides import TorchFunctionMode

class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        seen.add(("function", str(gradient.device)))
        return gradient * torch.full(gradient.shape, 2.0, device=gradient.device)

class Names(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        names.append(function.__name__)
        return function(*args, **(kwargs or {}))

def late(gradient):
    with Names():
        there = gradient + torch.ones(8, 8, device=gradient.device)
    seen.add(("late", str(there.device)))

seen, names = set(), []
net = torch.nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.01)
net.weight.register_hook(lambda gradient: seen.add(("hook", str(gradient.device), gradient.is_cuda, gradient.is_cpu)))
x = torch.randn(4, 8, device="cuda")
for step in range(200):
    optimizer.zero_grad()
    y = Double.apply(net(x)).sum()
    (gradient,) = torch.autograd.grad(y, net.bias, retain_graph=True)
    y.backward()
    seen.update([("grad", str(gradient.device)), ("parameter", str(net.weight.grad.device))])
    if step == 150:
        handle = net.weight.register_hook(late)
    if step == 160:
        handle.remove()
    optimizer.step()
for one in sorted(seen):
    print(*one)
print(names[:4], len(names))
"""


def test_what_runs_while_gradients_are_computed_unwatched_finds_the_gpu(tmp_path: Path) -> None:
    script = tmp_path / "back.py"
    script.write_text(BACK)
    workload, out = _run(script, tmp_path)
    assert out.splitlines() == [
        "function cuda:0", "grad cuda:0", "hook cuda:0 True False", "late cuda:0", "parameter cuda:0", "['__get__', "
        "'ones', 'add', '__get__'] 30"
    ]  # fmt: skip
    assert workload["program"]["sampling"] > 2
    assert not [u for u in workload["unseen"] if u["reason"] == "hook-failed"]


RAGGED = """
import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
x, y = torch.randn(152, 24, 1).to(device), torch.randn(152).to(device)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers, self.last = torch.nn.{}(1, 16, num_layers=2, batch_first=True), torch.nn.Linear(16, 1)
    def forward(self, x):
        return self.last(self.layers(x)[0][:, -1]).squeeze(-1)
net = Net().to(device)
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(6):
    for batch in torch.randperm(len(x), device=device).split(16):
        loss = torch.nn.functional.mse_loss(net(x[batch]), y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(loss.item() > 0)
"""


@pytest.mark.parametrize("kind", ["GRU", "LSTM", "RNN"])
def test_a_recurrent_layer_finds_the_rest_of_an_epoch_on_the_gpu(kind: str, tmp_path: Path) -> None:
    """Its input was taken in a step that went unwatched until the layer was called with fewer rows."""
    script = tmp_path / "ragged.py"
    script.write_text(RAGGED.format(kind))
    workload, out = _run(script, tmp_path)
    assert out == "True\n"
    assert workload["program"]["sampling"] > 1
    layers = [entry for entry in workload["ops"] if entry["name"] == f"aten.{kind.lower().replace('rnn', 'rnn_tanh')}"]
    assert layers and all(entry.get("device") == "cuda:0" for entry in layers)


def test_what_the_host_has_is_no_wait_where_it_is_read_between_steps(tmp_path: Path) -> None:
    script = tmp_path / "between.py"
    script.write_text(
        NET + "host, there = torch.ones(5), torch.ones(5, device=device)\nmean, other = host.mean(), there.mean()\n"
        "for step in range(120):\n    train()\n    if step % 50 == 40:\n        print(mean.item())\n        "
        "print(other.item())\n"
    )
    workload, out = _run(script, tmp_path, pretend=False)
    assert out.split() == ["1.0"] * 4
    reads = [(workload["sites"][e["site"]]["text"], e["count"]) for e in workload["ops"] if "host_read" in e["op"]]
    assert reads == [("print(other.item())", 2)]


def test_what_runs_as_a_whole_shows_its_source_and_compiles(tmp_path: Path) -> None:
    script = tmp_path / "shown.py"
    script.write_text("""import inspect, torch
@torch.jit.script
def doubled(x: torch.Tensor) -> torch.Tensor:
    with torch.autograd.profiler.record_function("part"):
        return x * 2
@torch.jit.script
def graded(x: torch.Tensor) -> torch.Tensor:
    (x * 2).sum().backward()
    return x
x = torch.ones(2, requires_grad=True)
print(doubled(x).tolist(), graded(x).grad.tolist())
for function in (torch.autograd.backward, torch.autograd.grad, torch.Tensor.backward, torch.optim.SGD.step):
    print(inspect.getsource(function).split("(")[0].split()[-1], len(inspect.signature(function).parameters))
""")
    plain = untraced(tmp_path / "at", [str(script)])
    _, out = _run(script, tmp_path)
    assert out == plain.out.decode() and plain.code == 0, plain.err.decode()


def test_what_an_optimizer_is_to_call_finds_the_gpu(tmp_path: Path) -> None:
    """Whether it is to call it from the first step on or later, of its own or of all optimizers; the step shows
    whose it is."""
    script = tmp_path / "hooks.py"
    script.write_text("""import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook
net = torch.nn.Linear(3, 2).to("cuda" if torch.cuda.is_available() else "cpu")
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
places = []
def look(*_):
    places.append(torch.ones(1, device=net.weight.device).device == net.weight.device == net.weight.grad.device)
def steps():
    places.clear()
    for _ in range(30):
        net(torch.ones(2, 3, device=net.weight.device)).sum().backward()
        optimizer.step()
    print(len(places), all(places))
steps()
own = optimizer.register_step_post_hook(look)
steps()
own.remove()
of_all = register_optimizer_step_pre_hook(look)
steps()
of_all.remove()
steps()
step = torch.optim.SGD.step
print(step.__module__, step.__qualname__, step.__doc__.split()[0], step.hooked, optimizer.step.__func__ is step)
""")
    plain = untraced(tmp_path / "at", [str(script)])
    workload, out = _run(script, tmp_path)
    assert out == plain.out.decode() and plain.code == 0, plain.err.decode()
    assert sum(e["count"] for e in workload["ops"] if e["name"] == "aten.addmm") == 120
