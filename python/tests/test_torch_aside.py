"""Without a GPU a simple rule tells what is on the device of a script that names one: in what follows it finds the
ops, copies, reads and memory that there are where the device is imitated."""

from __future__ import annotations

import collections
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is not installed: its recorder is not tested", allow_module_level=True)

from test_torch_pretend import _run

from breakeven.torch import frames
from breakeven.torch.no_gpu import call_words

BEGIN = """
import copy
import numpy as np
import torch
import torch.nn.functional as F
torch.manual_seed(0)
np.random.seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
"""
TRAIN = """
def train(net, batches):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    for x, y in batches:
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())
"""
SCRIPTS = {
    "rows drawn and stacked one by one": """
data = np.random.randint(0, 9, 2000)
net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9), torch.nn.Flatten(0, 1)).to(device)
def batches():
    for _ in range(30):
        ix = torch.randint(len(data) - 9, (4,))
        x = torch.stack([torch.from_numpy(data[i:i + 8]) for i in ix])
        y = torch.stack([torch.from_numpy(data[i + 1:i + 9]) for i in ix])
        yield x.to(device), y.to(device).flatten()
train(net, batches())
""",
    "prepared and picked on the host": """
rows, labels = torch.randn(5000, 64), torch.randint(0, 10, (5000,))
rows = (rows - rows.mean(0)) / rows.std(0)
print(rows.abs().max().item() > 1, labels.bincount().numel())
net = torch.nn.Linear(64, 10)
net.to(device)
def batches():
    for _ in range(30):
        some = torch.randperm(len(rows))[:16]
        yield rows[some].to(device), labels[some].to(device)
train(net, batches())
""",
    "batches kept in a list": """
kept = [(torch.rand(64, 300), torch.randint(0, 10, (64,))) for _ in range(40)]
net = torch.nn.Linear(300, 10).to(device)
def batches():
    for batch in kept:
        x, y = batch[0].to(device), batch[1].to(device)
        yield x, y
train(net, batches())
""",
    "all batches put there at once": """
kept = [(torch.rand(64, 300).to(device), torch.randint(0, 10, (64,)).to(device)) for _ in range(10)]
train(torch.nn.Linear(300, 10).to(device), kept)
""",
    "a module and products that prepare": """
class Centred(torch.nn.Module):
    def forward(self, x):
        return x - torch.as_tensor([0.5], dtype=x.dtype, device=x.device)
mixing = torch.randn(32, 32)
net = torch.nn.Linear(32, 10).to(device)
prepare = Centred()
def batches():
    for _ in range(30):
        yield (prepare(torch.rand(16, 32)) @ mixing).to(device), torch.randint(0, 10, (16,)).to(device)
train(net, batches())
""",
    "made where calls say": """
class Maker:
    def __init__(self):
        self.device = device
        self.how = {"dtype": torch.float32, "device": device}
    def rows(self):
        return torch.randn(16, 20, device=self.device) + torch.zeros(20, **self.how)
maker = Maker()
how = dict(device=device)
net = torch.nn.Linear(20, 10, device=device)
def batches():
    for _ in range(30):
        rows = maker.rows()
        ones = torch.ones(16, 1, device=rows.device)
        yield rows * ones * torch.full((20,), 2.0, **how), torch.arange(16, device=device) % 10
train(net, batches())
""",
    "filled by the host": """
net = torch.nn.Linear(4, 2).to(device)
state, total = np.zeros(4, dtype=np.float32), 0
for _ in range(60):
    values = net(torch.as_tensor(state, device=device).unsqueeze(0))
    action = values.argmax(1).item()
    state = np.roll(state, 1) + np.float32(action)
    reward = torch.tensor([float(action)], device=device)
    total += (values.max() * reward).item()
print(total)
""",
    "filled by the host and kept": """
net = torch.nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
state, memory = torch.tensor([0.0, 1.0, 0.0, 1.0], device=device), []
for step in range(30):
    action = net(state).argmax().view(1, 1) if np.random.rand() > 0.5 else torch.tensor([[step % 2]], device=device)
    reward = torch.tensor([float(action.item())], device=device)
    memory.append((state, action, reward))
    state = torch.tensor(np.random.rand(4), dtype=torch.float32, device=device)
    if step % 7 == 6:
        states, actions, rewards = zip(*memory[-5:])
        loss = F.mse_loss(net(torch.stack(states)).gather(1, torch.cat(actions)).squeeze(1), torch.cat(rewards))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
    "copies of networks, clipped gradients": """
net = torch.nn.Linear(20, 10).to(device)
mean = copy.deepcopy(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(30):
    with torch.no_grad():
        for old, new in zip(mean.parameters(), net.parameters()):
            old.mul_(0.9).add_(new, alpha=0.1)
    loss = F.mse_loss(net(torch.randn(8, 20).to(device)), mean(torch.randn(8, 20).to(device)).detach())
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
""",
    "a loader that transforms by modules": """
class Rows(torch.utils.data.Dataset):
    scale = torch.nn.BatchNorm1d(32).eval()
    def __len__(self):
        return 64
    def __getitem__(self, at):
        with torch.no_grad():
            return self.scale(torch.randn(4, 32)).mean(0), at % 10
net = torch.nn.Linear(32, 10).to(device)
train(net, ((x.to(device), y.to(device)) for x, y in torch.utils.data.DataLoader(Rows(), 8)))
""",
    "a loader's set on the device": """
rows = torch.utils.data.TensorDataset(torch.randn(640, 32).to(device), torch.randint(0, 10, (640,)).to(device))
net = torch.nn.Linear(32, 10).to(device)
for _ in range(3):
    train(net, torch.utils.data.DataLoader(rows, 80, shuffle=True))
""",
    "saved": """
import io, pickle
rows = torch.randn(4, 64)
net = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.Linear(32, 4)).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
for epoch in range(12):
    loss = net(rows.to(device)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 4 == 3:
        torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, io.BytesIO())
torch.save(rows, io.BytesIO())
print(len(pickle.dumps(net.state_dict())) > 0)
torch.save(net.cpu().state_dict(), io.BytesIO())
""",
    "a default device": """
rows = torch.randn(400, 256)
torch.set_default_device(device)
net = torch.nn.Linear(256, 4)
for i in range(8):
    out = net(rows[i * 50 : i * 50 + 50].to(device) + torch.ones(256))
    print(out.tolist() == out.detach().cpu().numpy().tolist())
""",
    "put there by one variable, kept by another": """
net = torch.nn.Linear(256, 10).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(30):
    x, y = torch.rand(16, 256), torch.randint(0, 10, (16,))
    out = net(x.to(device))
    loss = F.cross_entropy(out, y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    right = (out.argmax(1).cpu() == y).float().mean().item()
    largest = x.max().item()
""",
    "classes told by numbers": """
net = torch.nn.Linear(8, 4).to(device)
for _ in range(2):
    i = torch.randint(0, 8, (16,))
    kept = F.one_hot(i, 8)
    j = torch.randint(0, 8, (16,)).to(device)
    out = net(F.one_hot(j, num_classes=8).float())
print(F.one_hot(torch.arange(8, device=device)).dim(), out.sum().item() == 0)
print(kept.max() == 1)
""",
    "nothing filled by the host": """
x = torch.ones(4, device=device)
for _ in range(3):
    kept = torch.cat([torch.tensor([], device=device), x])
print(kept.numel())
""",
}  # fmt: skip


WITHOUT_VALUES = (
    "rows drawn and stacked one by one", "filled by the host", "filled by the host and kept", "made where calls say",
)  # fmt: skip


@pytest.mark.parametrize(("name", "fake"), [(name, False) for name in SCRIPTS] + [(name,
    True) for name in WITHOUT_VALUES])
def test_the_same_is_on_the_device_as_where_a_gpu_is_imitated(name: str, fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(BEGIN + TRAIN + SCRIPTS[name])
    sides = []
    for pretend in (False, True):
        folder = tmp_path / str(pretend)
        folder.mkdir()
        workload, out = _run(script, folder, pretend=pretend, fake=fake)
        memory = workload["program"]["device_peak_bytes" if pretend else "peak_bytes"]
        sides.append((_there(workload, pretend), out, memory))
    (plain, out, peak), (pretended, expected, most) = sides
    assert out.count("\n") == expected.count("\n")
    assert plain == pretended
    assert peak == pytest.approx(most, rel=0.05)


def _there(workload: Any, pretend: bool) -> dict[str, dict[Any, int]]:
    """Copies either way by their bytes, and ops by name and shapes, with how often."""
    found: dict[str, collections.Counter[Any]] = {kind: collections.Counter() for kind in ("h2d", "d2h", "ops")}
    for entry in workload["ops"]:
        op = entry["op"] if isinstance(entry["op"], dict) else {}
        of_host = entry.get("phase") == "data" or entry["name"].startswith("numpy.")
        there = entry.get("device") if pretend else not of_host
        if "transfer" in op:
            if there or op["transfer"]["direction"] == "h2d":
                found[op["transfer"]["direction"]][op["transfer"]["bytes"]] += entry["count"]
        elif there and "host_read" in op:
            found["d2h"][op["host_read"]["bytes"]] += entry["count"]
        elif there and op:
            found["ops"][entry["name"].rstrip("_"), entry.get("shapes", "").partition("->")[0]] += entry["count"]
            if not pretend and (copies := entry["host_input_count"]):
                found["h2d"][entry["host_input_bytes"] // copies] += copies
    return {kind: dict(counts) for kind, counts in found.items()}


def test_what_a_gradient_goes_through_is_never_copied(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(BEGIN + """
net = torch.nn.Linear(32, 32).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(60):
    out = net(torch.randn(16, 32).to(device)).tanh()
    if step % 25 == 24:
        out = torch.relu(out).exp().sqrt()
    loss = out.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""")  # fmt: skip
    workload, _ = _run(script, tmp_path, pretend=False)
    assert workload["program"]["sampling"] > 4
    assert _there(workload, False)["h2d"] == {16 * 32 * 4: 60, 32 * 32 * 4: 1, 32 * 4: 1}


def test_a_script_that_names_no_device_is_estimated_as_a_whole(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import torch\nx = torch.rand(100, 100)\nprint((x @ x).sum().item())\n")
    workload, _ = _run(script, tmp_path, pretend=False)
    assert {entry["name"]: entry.get("phase") for entry in workload["ops"]} == dict.fromkeys(
        ("aten.rand", "aten.mm", "aten.sum", "aten._local_scalar_dense")
    )


def test_a_mask_of_the_hosts_is_no_wait(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(BEGIN + """
x = torch.ones(3, 4, device=device)
for _ in range(3):
    x[torch.tensor([True, False, True])]
    x[x[:, 0] > 0]
""")
    assert _there(_run(script, tmp_path, pretend=False)[0], False)["d2h"] == {8: 3}


def test_an_optimizers_counters_are_no_data(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("""import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
net = torch.nn.Linear(4, 2).to(device)
optimizer = torch.optim.Adam(net.parameters(), foreach=True)
for _ in range(4):
    net(torch.ones(3, 4).to(device)).sum().backward()
    optimizer.step()
""")
    workload, _ = _run(tmp_path / "script.py", tmp_path, pretend=False)
    of_step = [e for e in workload["ops"] if workload["sites"][e["site"]]["text"] == "optimizer.step()"]
    assert {e["phase"] for e in of_step} == {"optimizer"}
    # One of them for the list of both parameters' counters.
    counters = [e for e in of_step if e["name"] == "torch.host_scalar"]
    assert {e["shapes"].partition(" ")[0] for e in counters} == {"[2]", "[]"}


def test_a_parameter_of_one_value_is_no_counter(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("""import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
scale = torch.ones((), device=device, requires_grad=True)
optimizer = torch.optim.SGD([scale])
for _ in range(4):
    (scale * scale).backward()
    optimizer.step()
""")
    workload, _ = _run(tmp_path / "script.py", tmp_path, pretend=False)
    assert [e["name"] for e in workload["ops"] if e.get("phase") == "optimizer"] == ["aten.add_"]


def test_gradients_of_what_the_host_has_go_back(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("""import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
net, kept = torch.nn.Linear(1, 1).to(device), torch.ones(3, 1, requires_grad=True)
optimizer, there = torch.optim.SGD(net.parameters(), 0.01), kept.to(device)
for i in range(20):
    x = torch.linspace(0, 1, 20).reshape(-1, 1).requires_grad_().to(device)
    y = net(x)
    slope, = torch.autograd.grad(y.sum(), x, create_graph=True)
    optimizer.zero_grad()
    ((slope - y).pow(2).mean() + net(there).mean()).backward()
    optimizer.step()
    other = torch.ones(5, requires_grad=True)
    (other * 2).sum().backward()
""")
    for pretend in (True,):
        workload, _ = _run(tmp_path / "script.py", tmp_path, pretend=pretend)
        back = [e for e in workload["ops"] if workload["sites"][e["site"]]["line"] == 10 and isinstance(e["op"], dict)]
        bytes_of = collections.Counter[int]()
        for entry in back:
            for family in ("host_read", "transfer"):
                if family in entry["op"]:
                    bytes_of[entry["op"][family]["bytes"]] += entry["count"]
        assert bytes_of == {80: 20, 12: 20}, pretend


def _crossings(workload: dict[str, Any]) -> dict[int, int]:
    """How many copies and reads each line makes."""
    found: collections.Counter[int] = collections.Counter()
    for entry in workload["ops"]:
        if isinstance(entry["op"], dict) and ("transfer" in entry["op"] or "host_read" in entry["op"]):
            found[workload["sites"][entry["site"]]["line"]] += entry["count"]
    return found


def _on_device(workload: dict[str, Any], pretend: bool) -> dict[int, int]:
    """The same of what is not done on the host: to load, or where a GPU is imitated."""
    there = [e for e in workload["ops"] if e.get("phase") != "data" and not (pretend and e.get("device") is None)]
    return _crossings(workload | {"ops": there})


@pytest.mark.parametrize("pretend", [True])
def test_what_is_copied_from_an_attribute_stays_on_the_host(pretend: bool, tmp_path: Path) -> None:
    """Also where a library does so, and where the copy has the attribute's name."""
    script = tmp_path / "attributes.py"
    script.write_text("""import torch
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
class Scaled:
    def __init__(self):
        self.scale = torch.ones(3)
    def of(self, x):
        scale = self.scale.to(device)
        self.scale += 1
        over = [bool(self.scale[0] > 9)]
        over.append(bool(scale[0] > 9))
        return x * scale, *over
scaled = Scaled()
x = torch.ones(3).to(device)
for _ in range(20):
    result, *over = scaled.of(x)
print(*over)
net = torch.nn.Linear(4, 2).to(device)
means = AveragedModel(net)
averages = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.9))
for _ in range(20):
    means.update_parameters(net)
    averages.update_parameters(net)
""")
    workload, out = _run(script, tmp_path, pretend=pretend)
    assert out.split() == ["True", "True"]
    there = [entry for entry in workload["ops"] if not (pretend and entry.get("device") is None)]
    crossings = _crossings(workload | {"ops": there})
    # A GPU's mean asks for the weight of all parameters once, by which they are taken at once.
    assert crossings.pop(22) - (19 if pretend else 0) == 19
    assert crossings == {8: 20, 11: 20, 14: 1, 18: 2, 23: 19}


@pytest.mark.parametrize("pretend", [False, True])
def test_what_is_loaded_onto_the_device_is_copied_there(pretend: bool, tmp_path: Path) -> None:
    script = tmp_path / "loads.py"
    script.write_text("""import os, sys, torch
from torch import load
path = os.path.join(os.path.dirname(sys.argv[0]), "net.pt")
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = torch.nn.Linear(64, 128).to(device)
optimizer = torch.optim.Adam(net.parameters())
net(torch.ones(8, 64).to(device)).sum().backward()
optimizer.step()
torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, path)
found = torch.load(path, map_location=device)
net.load_state_dict(found["net"])
optimizer.load_state_dict(found["optimizer"])
print(found["net"]["weight"].sum().item() < 999)
host = torch.load(path, map_location="cpu")
host = load(
    path,
    map_location=torch.device("cpu"),
)
again = load(
    path,
    map_location=str(device),
)
each = [torch.load(path, map_location=lambda storage, place: storage), torch.load(path, device, weights_only=False)]
net.load_state_dict(host["net"])
other = torch.nn.Linear(64, 128)
other.load_state_dict(host["net"])
other.to(device)
try:
    torch.load(path + ".no", map_location=device)
except FileNotFoundError as error:
    print(error.filename == path + ".no", len(torch.load(path)["net"]))
""")
    workload, out = _run(script, tmp_path, pretend=pretend)
    assert out.split() == ["True", "True", "2"]
    copies: collections.Counter[int] = collections.Counter()
    for entry in workload["ops"]:
        if isinstance(entry["op"], dict) and entry["op"].get("transfer", {}).get("direction") == "h2d":
            copies[workload["sites"][entry["site"]]["line"]] += entry["count"]
    # Adam has a count and two averages of each of the two parameters.
    file = 2 + 2 * 3
    expected = {5: 2, 7: 1, 10: file, 19: file, 23: file, 27: 2}
    if pretend:
        # What an op has copied from the host is told with the op otherwise; and the counts were the host's.
        expected |= {24: 2, 31: file - 2}
    assert copies == expected
    assert not [u for u in workload["unseen"] if u["reason"] == "hook-failed"]


@pytest.mark.parametrize("pretend", [True])
def test_a_call_names_the_host_on_whatever_line(pretend: bool, tmp_path: Path) -> None:
    script = tmp_path / "lines.py"
    script.write_text("""import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = torch.nn.Linear(64, 128).to(device)
for _ in range(3):
    out = net(torch.ones(8, 64).to(device))
    host = out.to(
        "cpu"
    )
    host = (
        out
        .detach()
        .to(  # not the device's
            device="cpu",
            copy=False,
        )
    )
    mask = torch.zeros(
        8, 128,
        device="cpu",
    )
    out = out * mask.to(
        device
    )
    cpu_net = torch.nn.Linear(64, 2)
    cpu_net.to(device)
    held = net.to(
        device="cpu",
    )
    print(held.weight.sum().item() < 999, host.sum().item() < 9999)
    net.to(device)
""")
    workload, out = _run(script, tmp_path, pretend=pretend)
    assert out.split() == ["True"] * 6
    there = [entry for entry in workload["ops"] if not (pretend and entry.get("device") is None)]
    assert _crossings(workload | {"ops": there}) == {3: 2, 5: 3, 6: 3, 12: 3, 21: 3, 25: 6, 26: 6, 30: 6}


def test_a_call_is_read_from_what_it_is_given_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """On whatever lines, and whatever else is there."""
    read: list[Any] = []

    class Asks:
        def to(self, *_: Any, **__: Any) -> Any:
            frame = sys._getframe(1)
            read.append(call_words.says_host(*frames.at(frame)))
            return self

        def cpu(self, *_: Any) -> Any:
            return self

    cpu_asks, device, kept = Asks(), "cuda"[4:], {"device": "cpu"}
    cpu_asks.to("cpu")
    cpu_asks.to(
        # The host.
        "cpu"
    )
    cpu_asks.cpu().to(device).cpu("cpu")
    cpu_asks.to(device=device), cpu_asks.to("cpu" if device else "meta").to(
        device,
        non_blocking=True,
    )
    [(cpu_asks.cpu("cpu"), one.to(device or one)) for one in [cpu_asks]]
    cpu_asks.to(*["cpu", device], **kept)
    move = cpu_asks.to
    move(device), move("cpu")
    monkeypatch.setitem(sys.modules, "asks", cpu_asks)  # of a module's functions CPython has its own way
    exec('import asks\nasks.to("meta" if device else "cpu"), asks.to(device=device)', {"device": device})
    try:
        cpu_asks.to(device.index("cpu"))
    except ValueError:
        cpu_asks.to("cpu", [kept for _ in "c" if kept])
    while len(read) < 16:
        cpu_asks.cpu("cpu").to(
            device if kept else
            device
        )
    assert read == [*(True, True, False, False, True, False, False, True), *(False, True, True, False, True),
        *[False] * 3]


@pytest.mark.parametrize("pretend", [False, True])
def test_lengths_of_packed_sequences_stay_on_the_host(pretend: bool, tmp_path: Path) -> None:
    """Those that are given, and how many sequences go on at each step, which the layer reads."""
    script = tmp_path / "packs.py"
    script.write_text("""import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = torch.nn.GRU(3, 5, batch_first=True).to(device)
for _ in range(3):
    lengths = torch.tensor([10, 8, 7, 2])
    x = torch.ones(4, 10, 3).to(device)
    packed = pack_padded_sequence(x, lengths, batch_first=True)
    results, _ = net(packed)
    results, _ = pad_packed_sequence(results, batch_first=True)
    results.sum().backward()
    longest = max(int(length) for length in lengths)
    there = lengths.to(device)
    back = there.cpu()
    packed = pack_padded_sequence(x, back, batch_first=True)
    longest += int(packed.batch_sizes[0])
print(longest)
""")
    workload, out = _run(script, tmp_path, pretend=pretend)
    assert out == "14\n"
    assert _on_device(workload, pretend) == {4: 4, 7: 3, 13: 3, 14: 3}


@pytest.mark.parametrize("pretend", [True])
def test_a_copied_part_leaves_the_tensor_on_the_device(pretend: bool, tmp_path: Path) -> None:
    """Also what a module or an object has, and in whatever function."""
    script = tmp_path / "parts.py"
    script.write_text("""import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.ones(4).to(device)
values = torch.zeros(3, 4).to(device)
def fill(i):
    values[i] = x * 2
class Rollout:
    def __init__(self):
        self.rewards = torch.zeros(3, 4, device=device)
    def fill(self, i):
        self.rewards[i] = x * 3
    def show(self):
        flat = self.rewards.view(-1)
        return flat.cpu()
rollout = Rollout()
def show():
    flat = values.view(-1)
    shown = flat.cpu()
    total = shown[0].item()
    out = x[:2] * 2
    first, second = out.chunk(2)
    first = first.cpu()
    best = out.argmax(0)
    total += second.item()
    total += first.item()
    second = second.cpu()
    return total + second.item()
for _ in range(3):
    for i in range(3):
        fill(i)
        rollout.fill(i)
    shown = rollout.show()
    number = show() + shown[0].item()
    values[0] = x
print(number)
""")
    workload, out = _run(script, tmp_path, pretend=pretend)
    assert out == "11.0\n"
    assert _on_device(workload, pretend) == {3: 1, 4: 1, 14: 3, 18: 3, 22: 3, 24: 3, 26: 3}


@pytest.mark.parametrize("pretend", [True])
def test_indices_of_the_hosts_are_copied_for_each_op_that_takes_them(pretend: bool, tmp_path: Path) -> None:
    """Forward and back, also where steps go unwatched; a part of them alone."""
    script = tmp_path / "indices.py"
    script.write_text("""import numpy, torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x, y = torch.ones(64, 4).to(device), torch.ones(64, 1).to(device)
weights = torch.ones(64, 1, device=device, requires_grad=True)
net = torch.nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for epoch in range(10):
    order = torch.randperm(64)
    for i in range(0, 64, 16):
        rows = order[i : i + 16]
        loss = ((net(x[rows]) - y[rows]) ** 2 * weights[rows]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
places, rows = numpy.arange(8), torch.arange(16)
for _ in range(2):
    x[places], x[rows, rows % 4]
    y[rows] = y[rows] * 2
    there = rows.to(device)
    y[there]
print("done")
""")
    workload, out = _run(script, tmp_path, pretend=pretend)
    assert out == "done\n"
    assert _crossings(workload) == {3: 2, 5: 2, 11: 120, 13: 40, 17: 6, 18: 4, 19: 2}
    assert _there(workload, pretend)["h2d"] == {1024: 1, 256: 1, 16: 1, 4: 1, 128: 120 + 40 + 4 + 4 + 2, 64: 2}


@pytest.mark.parametrize("pretend", [False, True])
def test_lengths_of_sequences_that_are_not_aligned_are_told_to_the_host(pretend: bool, tmp_path: Path) -> None:
    """Where they are not there already."""
    script = tmp_path / "unaligned.py"
    script.write_text("""import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loss = torch.nn.CTCLoss()
scores = torch.randn(20, 4, 10).to(device).requires_grad_()
targets = torch.randint(1, 10, (4, 5)).to(device)
here, sizes = torch.full((4,), 20), torch.tensor([5, 4, 3, 2])
there, lengths = here.clone().to(device), sizes.clone().to(device)
for _ in range(3):
    first = loss(scores.log_softmax(-1), targets, there, lengths)
    second = loss(scores.log_softmax(-1), targets, here, sizes)
    first.backward()
print("done")
""")
    workload, out = _run(script, tmp_path, pretend=pretend)
    assert out == "done\n"
    assert _there(workload, pretend)["d2h"] == {32: 6}


@pytest.mark.parametrize("pretend", [True])
def test_what_a_function_copies_of_its_callers_stays_on_the_device(pretend: bool, tmp_path: Path) -> None:
    """Unless the caller takes the copy for it."""
    script = tmp_path / "given.py"
    script.write_text("""import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
def shown(value):
    value = value.cpu()
    return f"{value.sum() > 0} {value.max().item() > 0}"
def kept(value):
    return value.detach().cpu()
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.of = torch.nn.Linear(4, 2)
        self.last = None
    def forward(self, x, sizes):
        longest = sizes.cpu().max().item()
        self.last = self.of(x)
        shown(self.last)
        return self.last + longest
def trained(x, sizes):
    out = net(x, sizes)
    text = shown(out)
    most = sizes.max().item()
    least = net.last.min().item()
    loss = torch.nn.functional.mse_loss(out, out * 2)
    total = loss.item()
    out = kept(out)
    return out.sum().item() + total + most
net = Net().to(device)
for _ in range(3):
    x, sizes = torch.ones(4, 4).to(device), torch.tensor([8, 7, 5, 2]).to(device)
    trained(x, sizes)
    print(sizes.sum().item())
""")
    workload, out = _run(script, tmp_path, pretend=pretend)
    assert out == "22\n" * 3
    assert _on_device(workload, pretend) == {4: 6, 7: 3, 14: 3, 21: 3, 22: 3, 24: 3, 27: 2, 29: 6, 31: 3}


@pytest.mark.parametrize("pretend", [True])
def test_what_steps_read_stays_where_it_was_read(pretend: bool, tmp_path: Path) -> None:
    """Though the host makes what is like it, and a function has copied it."""
    script = tmp_path / "metered.py"
    script.write_text("""import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
def accuracy(out, labels):
    chosen = out.cpu().argmax(1)
    return (chosen == labels.cpu()).float().mean().item()
def add(value):
    values.append(value.detach().cpu())
net, values = torch.nn.Linear(8, 3).to(device), []
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(40):
    x, labels = torch.ones(4, 8).to(device), torch.zeros(4, dtype=torch.long).to(device)
    out = net(x)
    right = accuracy(out, labels)
    loss = torch.nn.functional.cross_entropy(out, labels)
    add(loss)
    total = loss.item()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""")
    workload, _ = _run(script, tmp_path, pretend=pretend)
    assert workload["program"]["sampling"] > 1
    there = [e for e in workload["ops"] if not (pretend and e.get("device") is None)]
    assert _crossings(workload | {"ops": there}) == {4: 40, 5: 40, 7: 40, 8: 2, 11: 80, 16: 40}


@pytest.mark.parametrize("pretend", [True])
def test_what_is_put_on_the_device_by_several_lines_stays_on_the_host(pretend: bool, tmp_path: Path) -> None:
    """It is copied by each of them, whatever name a function has for it, and read there without waiting."""
    script = tmp_path / "several.py"
    script.write_text("""import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = torch.nn.Linear(16, 4).to(device)
rows, labels, others = torch.rand(20, 16), torch.ones(20).long(), torch.rand(3, 16)
def trained(x, y):
    net.train()
    for i in range(0, 20, 5):
        part = x[i : i + 5].to(device); is_there = y[i : i + 5].to(device)
        torch.nn.functional.cross_entropy(net(part), is_there).backward()
@torch.no_grad()
def evaluated(x, y):
    net.eval()
    out = net(x.to(device).unsqueeze(0)[0])
    return (out.argmax(1).cpu() == y).sum().item()
def compared():
    found = net(rows.to(device)).argmax(1)
    return found.eq(labels.to(device)).sum().item()
def centred():
    return (rows - rows.mean(0)).sum().item()
def moved(x):
    x = x.to(device)
    return net(x).sum().item()
for _ in range(4):
    trained(rows, labels); evaluated(rows, labels); compared(); centred(); moved(others)
    others.sum().item()
class Kept:
    def __init__(self, model, x):
        self.model, self.x = model.to(device), x
    def fitted(self):
        for _ in range(3):
            x = self.x.to(device); self.model(x).sum().backward()
    def scored(self):
        return self.model(self.x.to(device)).max().item(), self.mean()
    def mean(self):
        return self.x.mean().item()
kept = Kept(net, rows)
kept.fitted(); kept.scored(); kept.fitted(); kept.scored()
print(sum(net(row.to(device)).numel() for row in rows.split(10)), rows.sum().item() > 0)
""")
    workload, out = _run(script, tmp_path, pretend=pretend)
    assert out == "80 True\n"
    assert _on_device(workload, pretend) == {
        3: 2, 8: 32, 13: 4, 14: 4, 16: 4, 17: 8, 21: 4, 22: 4, 31: 6, 33: 4, 38: 2
    }  # fmt: skip


@pytest.mark.parametrize("pretend", [True])
def test_what_a_function_puts_on_the_device_for_others_is_copied_back(pretend: bool, tmp_path: Path) -> None:
    """Also where it did so unwatched, and nothing of PyTorch's module is taken for a tensor that is on the device."""
    script = tmp_path / "batches.py"
    script.write_text("""import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = torch.nn.Linear(8, 5).to(device)
class Evaluation:
    def there(e, batch):
        return {key: value.to(device) if torch.is_tensor(value) else value for key, value in batch.items()}
    def run(e):
        answers, labels = [], []
        for batch in e.batches(torch.ones(12, 8), torch.ones(12).long()):
            batch = e.there(batch)
            answers.append(net(batch["x"]).cpu()); labels.append(batch["y"].cpu())
        answers = torch.cat(answers); labels = torch.cat(labels); e.done = True
        return (answers.argmax(1) == labels).float().mean().item()
    def batches(e, x, y):
        return [{"x": x[i : i + 4] * 1, "y": y[i : i + 4] * 1, "which": i} for i in (0, 4, 8)]
print(len([Evaluation().run() for _ in range(5)]))
""")
    workload, out = _run(script, tmp_path, pretend=pretend)
    assert out == "5\n"
    assert _on_device(workload, pretend) == {3: 2, 6: 30, 11: 30}


@pytest.mark.parametrize("pretend", [True])
def test_what_is_made_after_a_loop_is_where_its_call_says(pretend: bool, tmp_path: Path) -> None:
    """Though steps make tensors as large on the device, and the line takes one that is there."""
    script = tmp_path / "after.py"
    script.write_text("""import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64)).to(device)
optimizer = torch.optim.SGD(net.parameters(), 0.01)
def train():
    for _ in range(8):
        hidden = net[0](torch.ones(32, 64).to(device))
        optimizer.zero_grad(); net[2](net[1](hidden)).square().mean().backward(); optimizer.step()
    return hidden
hidden = train()
with torch.no_grad():
    net(torch.rand(32, 64).to(device))
again = hidden.to(device)
hidden = train()
last = net(torch.rand(32, 64).to(device)).add(hidden).cpu()
print(again.sum().item() != 0, last.shape[0])
""")
    workload, out = _run(script, tmp_path, pretend=pretend)
    assert out == "True 32\n"
    assert _on_device(workload, pretend) == {3: 4, 7: 16, 12: 1, 15: 2, 16: 1}


@pytest.mark.parametrize("pretend", [False, True])
def test_a_data_set_has_on_the_host_what_a_module_takes_to_the_device(pretend: bool, tmp_path: Path) -> None:
    script = tmp_path / "shared.py"
    script.write_text("""import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
class Rows(torch.utils.data.Dataset):
    def __init__(self):
        self.x = torch.rand(24, 8); self.mean = self.x.mean(0)
    def __len__(self):
        return 24
    def __getitem__(self, i):
        return self.x[i] - self.mean
class Centred(torch.nn.Module):
    def __init__(self, mean, scale):
        super().__init__()
        self.layer = torch.nn.Linear(8, 2)
        self.register_buffer("mean", mean)
        self.scale = scale
    def forward(self, x):
        return self.layer((x + self.mean) / self.scale.to(x.device))
rows = Rows()
net = Centred(rows.mean, torch.ones(8)).to(device)
for _ in range(4):
    for x in torch.utils.data.DataLoader(rows, 4, shuffle=True):
        x = x.to(device)
        net(x).sum().backward()
    print(net.mean.sum().item() > 0)
""")
    workload, out = _run(script, tmp_path, pretend=pretend)
    assert out == "True\n" * 4
    assert _on_device(workload, pretend) == {17: 24, 19: 3, 22: 24, 24: 4}


@pytest.mark.parametrize("pretend", [False, True])
def test_what_a_line_puts_on_the_device_unseen_is_like_what_it_put_there_before(pretend: bool, tmp_path: Path) -> None:
    """Though steps make tensors as large on the device."""
    script = tmp_path / "like.py"
    script.write_text("""import torch
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = torch.nn.Sequential(torch.nn.Conv2d(3, 3, 3, padding=1), torch.nn.Flatten(), torch.nn.Linear(48, 2)).to(device)
images = torch.rand(24, 3, 4, 4)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
mean = torch.optim.swa_utils.AveragedModel(net)
for epoch in range(6):
    net.train()
    order = torch.randperm(24)
    for i in range(4):
        rows = order[i * 6 : i * 6 + 6]
        x = images[rows].to(device, non_blocking=True, memory_format=torch.channels_last)
        if torch.rand(1).item() < 0.5:
            x = x.flip(-1)
        net(x).sum().backward(); optimizer.step(); optimizer.zero_grad(); mean.update_parameters(net)
    net.eval()
    with torch.no_grad():
        print(net(images[:6].to(device)).sum().item() != 0)
""")
    workload, out = _run(script, tmp_path, pretend=pretend)
    assert out == "True\n" * 6
    assert (_crossings(workload)[13], _crossings(workload)[19]) == (24, 12)


@pytest.mark.parametrize("pretend", [True])
def test_what_is_made_where_a_module_is_that_has_not_been_moved_is_the_hosts(pretend: bool, tmp_path: Path) -> None:
    """As is what a function makes by the default of its argument."""
    script = tmp_path / "before.py"
    script.write_text("""import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
def boxes(numbers, device=torch.device("cpu")):
    return torch.as_tensor(numbers, device=device) + torch.ones(len(numbers), device=device)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(3, 4, 3)
        with torch.no_grad():
            device = next(self.first.parameters()).device
            size = self.first(torch.zeros(1, 3, 8, 8, device=device)).numel()
            print((self.first.weight.sum() + torch.ones(1, device=self.device)).isfinite().item())
        self.last = torch.nn.Linear(size, 2)
        self.boxes = boxes([1.0, 2.0])
    @property
    def device(self):
        return next(self.parameters()).device
    def forward(self, x):
        return self.last(self.first(x).flatten(1)) + torch.zeros(2, device=self.device) + self.boxes.to(x.device)
shift = torch.zeros(3, 8, 8, device=device)
net = Net()
net.to(device)
for _ in range(12):
    net(torch.rand(5, 3, 8, 8).to(device) + shift).sum().backward()
print(boxes([1.0, 2.0], device).sum().item(), net.last.bias.grad.sum().item())
""")
    workload, out = _run(script, tmp_path, pretend=pretend)
    assert out == "True\n5.0 120.0\n"
    assert _on_device(workload, pretend) == {4: 1, 19: 12, 22: 4, 24: 12, 25: 2}


LOOPS = {
    "in one function": ("""
for epoch in range(3):
    for x, y in data:
        x = x.to(device)
        y = y.to(device)
        step(x, y)
    for b in data:
        xs = b[0].to(device)
        print(net(xs).sum().item() != 0)
""", {26: 15, 27: 15, 30: 15, 31: 15}),
    "in functions that are given it": ("""
def train(batches):
    for i, (x, y) in enumerate(batches):
        x, y = x.to(device), y.to(device)
        step(x, y)
def test(rows):
    for x, _ in rows:
        x = x.to(device)
        print(net(x).sum().item() != 0)
for epoch in range(3):
    train(data)
    test(data)
""", {26: 30, 30: 15, 31: 15}),
    "by comprehensions, and a helper": ("""
def moved(batch):
    return [t.to(device) for t in batch]
def train():
    for b in data:
        b = [t.to(device) for t in b]
        step(*b)
def test():
    for b in data:
        b = moved(b)
        print(net(b[0]).sum().item() != 0)
for epoch in range(3):
    train()
    test()
""", {25: 30, 28: 30, 33: 15}),
    "and what a loop puts in its place": ("""
state = {"x": torch.ones(3, 4), "y": torch.zeros(3), "n": 3}
for k, v in state.items():
    if isinstance(v, torch.Tensor):
        state[k] = v.to(device)
rows = [torch.ones(3, 4)]
for i, row in enumerate(rows):
    rows[i] = row.to(device)
print(net(state["x"]).sum().item() == net(rows[0]).sum().item())
""", {27: 2, 30: 1, 31: 2}),
}


@pytest.mark.parametrize("pretend", [False, True])
@pytest.mark.parametrize("where", LOOPS)
def test_what_a_loop_goes_through_stays_where_it_is(where: str, pretend: bool, tmp_path: Path) -> None:
    """Though the loop gives its variable what is on the device."""
    script = tmp_path / "loops.py"
    lines, crossings = LOOPS[where]
    script.write_text("""import torch
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)
    def forward(self, x):
        return self.layer(x)
net = Net()
net.to(device)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
data = [(torch.randn(3, 4), torch.randint(0, 2, (3,))) for _ in range(5)]
def step(x, y):
    loss = torch.nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()




""" + lines)
    workload, out = _run(script, tmp_path, pretend=pretend)
    assert set(out.split()) == {"True"}
    assert _on_device(workload, pretend) == {11: 2} | crossings
