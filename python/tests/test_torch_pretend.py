"""Scripts written for a GPU, where there is none."""

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

HERE = Path(__file__).parent
L4 = {"name": "NVIDIA L4", "memory": 24 << 30, "capability": "8.9", "units": 58, "cache": 48 << 20}


def _run(
    script: Path, folder: Path, *arguments: str, fake: bool = False, pretend: bool = True, gpu: Any = L4
) -> tuple[Any, str]:
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(folder), "OMP_NUM_THREADS": "1"}
    if pretend:
        env["BREAKEVEN_PRETEND_GPU"] = json.dumps(gpu)
    if fake:
        env["BREAKEVEN_FAKE"] = "1"
    command = [sys.executable, "-m", "breakeven._run", str(script), *arguments]
    done = subprocess.run(command, env=env, capture_output=True, timeout=240, text=True)
    assert done.returncode == 0, done.stderr
    # Processes that load data begin, and so write, after the script.
    first = min(folder.glob("*.breakeven.json"), key=lambda file: int(file.name.partition(".")[0]))
    return json.loads(first.read_text()), done.stdout


def _copies(workload: Any, direction: str) -> list[int]:
    """Bytes of each copy that way."""
    copies = []
    for entry in workload["ops"]:
        op = entry["op"] if isinstance(entry["op"], dict) else {}
        if op.get("transfer", {}).get("direction") == direction:
            copies += [op["transfer"]["bytes"]] * entry["count"]
        elif direction == "d2h" and "host_read" in op and entry.get("device"):
            copies += [op["host_read"]["bytes"]] * entry["count"]
    return copies


def test_the_small_loop_copies_in_once_and_nothing_back(tmp_path: Path) -> None:
    workload, out = _run(HERE / "scripts" / "torch_loop.py", tmp_path)
    assert out.startswith("cuda 999")
    assert _copies(workload, "h2d") == [4000, 800, 80, 8]
    assert _copies(workload, "d2h") == []
    steps = [e for e in workload["ops"] if e["count"] == 1000 and e.get("device") and e["op"] != "view"]
    assert {e["device"] for e in steps} == {"cuda:0"}
    # Forward 2, backward 4 (one of them fills the loss's own gradient), Adam on lists of all parameters 7.
    assert len(steps) == 13


def test_what_a_script_does_with_its_gpu(tmp_path: Path) -> None:
    workload, out = _run(HERE / "programs" / "pytorch" / "torch_cuda.py", tmp_path)
    assert out.splitlines() == [
        f"NVIDIA L4 {24 << 30} 58 (8, 9)",
        "24 24 True",
        "0",
        "66.0 66.0 cuda:0 cpu True cuda:0",
        "RuntimeError Expected all tensors to be on the same d",
        "TypeError can't convert cuda:0 device type tensor ",
        "tensor([0., 2., 4., 6.], device='cuda:0')",
    ]
    assert _copies(workload, "h2d") == [48]
    # Three of the printed numbers are not 0.
    assert sorted(_copies(workload, "d2h")) == sorted([48, 4, 8, *3 * [1, 4], 1, 1, 1, *4 * [1], 16])
    waits = [e["name"] for e in workload["ops"] if e["op"] == "synchronise"]
    assert waits == ["torch.cuda.Stream.synchronize", "torch.cuda.synchronize"]
    [product] = [e for e in workload["ops"] if e["name"] == "aten.mul" and e.get("stream")]
    assert product["device"] == "cuda:0"
    [copy] = [e["op"]["transfer"] for e in workload["ops"] if "torch.Tensor.to" == e["name"]]
    assert copy["pinned"] and copy["asynchronous"]


def test_bfloat16_is_emulated_where_a_gpu_has_none(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from torch import cuda\n"
        "print(cuda.is_bf16_supported(), cuda.is_bf16_supported(including_emulation=False), cuda.is_tf32_supported())\n"
    )
    assert _run(script, tmp_path)[1] == "True True True\n"
    assert _run(script, tmp_path, gpu=L4 | {"capability": "7.5"})[1] == "True False False\n"


@pytest.mark.parametrize("fake", [False, True])
def test_what_is_on_the_gpu_is_not_pinned(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""
import torch
from torch.utils.data import DataLoader, TensorDataset
there, here = torch.rand(8, 2, device="cuda"), torch.rand(8, 2)
for pin in (there.pin_memory, lambda: list(DataLoader(TensorDataset(there), 4, pin_memory=True))):
    try:
        pin()
    except RuntimeError as error:
        print(str(error).splitlines()[-1])
print([batch.is_pinned() for batch, in DataLoader(TensorDataset(here), 4, pin_memory=True)], here.pin_memory().is_pinned())
""")
    _, out = _run(script, tmp_path, fake=fake)
    refused = "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"
    assert out.splitlines() == [refused, refused, "[True, True] True"]


def test_every_copy_is_exact(tmp_path: Path) -> None:
    workload, out = _run(HERE / "programs" / "pytorch" / "torch_copies.py", tmp_path)
    assert out.splitlines() == ["1000.0 1000 1.0", "cuda:0", "cpu", "True cuda:0"]
    assert sorted(_copies(workload, "h2d")) == sorted([4000, 4000, 12, 100, 10, 24, 16, 24, 40, 40, 100])
    assert sorted(_copies(workload, "d2h")) == sorted([2000, 4, 8, 4, 1, 40, 4000, 12, 40, 40, 100, 10])


@pytest.mark.parametrize("fake", [False, True])
def test_what_is_converted_crosses_as_the_side_that_does_not_convert_has_it(fake: bool, tmp_path: Path) -> None:
    workload, out = _run(HERE / "programs" / "pytorch" / "torch_casts.py", tmp_path, fake=fake)
    assert fake or out.split() == ["torch.float32", "cpu", "1000.0", "cuda:0", "cuda:0", "True"]
    into = [8000, 4000, 4000, 8000, 8000, 4000, 8000, 4000, 8000, 8000, 4000, 480]
    assert sorted(_copies(workload, "h2d")) == sorted(into)
    assert sorted(_copies(workload, "d2h")) == sorted([8000, 4000, 4000, 8000, 8000, 8000, 8000, 4000, 8000])
    there = [e for e in workload["ops"] if e["name"] == "aten._to_copy" and e.get("device") == "cuda:0"]
    text = (HERE / "programs" / "pytorch" / "torch_casts.py").read_text().splitlines()
    lines = [text[workload["sites"][entry["site"]]["line"] - 1] for entry in there]
    assert len(lines) == 5 and all("non_blocking=True" in line or "channels_last" in line for line in lines)


def test_a_default_device_is_imitated(tmp_path: Path) -> None:
    script = tmp_path / "default.py"
    script.write_text(
        "import torch\n"
        "with torch.device('cuda'):\n"
        "    layer = torch.nn.Linear(4, 2)\n"
        "torch.set_default_device('cuda')\n"
        "x, t = torch.randn(3, 4), torch.tensor([1.0, 2.0])\n"
        "print(layer(x).device, layer.weight.device, t.device, torch.get_default_device())\n"
        "with torch.device('cpu'):\n"
        "    print(torch.zeros(3).device)\n"
    )
    workload, out = _run(script, tmp_path)
    assert out.split() == ["cuda:0"] * 4 + ["cpu"]
    assert _copies(workload, "h2d") == [8]


def test_a_loss_that_is_a_module_is_read_in_unwatched_steps(tmp_path: Path) -> None:
    script = tmp_path / "loss.py"
    script.write_text(
        "import torch\n"
        "model, criterion = torch.nn.Linear(4, 2).to('cuda'), torch.nn.MSELoss()\n"
        "optimizer = torch.optim.SGD(model.parameters())\n"
        "x, y = torch.randn(3, 4, device='cuda'), torch.randn(3, 2, device='cuda')\n"
        "for step in range(100):\n"
        "    optimizer.zero_grad()\n"
        "    loss = criterion(model(x), y)\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "    if step % 20 == 19:\n"
        "        print(loss.item() > 0)\n"
    )
    workload, _ = _run(script, tmp_path)
    assert workload["program"]["sampling"] > 1, "steps went unwatched"
    assert _copies(workload, "d2h") == 5 * [4]


@pytest.mark.parametrize("pretend", [True, False])
def test_rows_are_copied_each(pretend: bool, tmp_path: Path) -> None:
    workload, out = _run(HERE / "programs" / "pytorch" / "torch_rows.py", tmp_path, pretend=pretend)
    assert out == "torch.Size([8])\n"
    assert sorted(_copies(workload, "h2d")) == sorted([800, 8, *12 * [400], 256, *3 * [40]])
    reads = [e["op"]["host_read"]["bytes"] for e in workload["ops"] if "host_read" in e["op"]
        for _ in range(e["count"])]
    assert sorted(_copies(workload, "d2h") if pretend else reads) == [*12 * [8], 32]


def test_results_are_where_a_gpu_has_them(tmp_path: Path) -> None:
    _, out = _run(HERE / "programs" / "pytorch" / "torch_places.py", tmp_path)
    refused = ["Expected all tensors to be on the same ", "can't convert cuda:0 device type tensor"]
    assert [line for line in out.splitlines() if not line.endswith(" cuda:0")] == ["lengths cpu", *refused]
    assert len(out.splitlines()) == 17


def test_scaling_and_clipping_copy_nothing(tmp_path: Path) -> None:
    workload, out = _run(HERE / "programs" / "pytorch" / "torch_scaled.py", tmp_path)
    assert out == "cuda:0 True True\n"
    assert workload["program"]["sampling"] > 1, "steps went unwatched"
    assert _copies(workload, "h2d") == [4 * 128 * 64, 4 * 128, 4 * 128 * 64, 4 * 64] + 60 * [4 * 32 * 64]
    assert _copies(workload, "d2h") == [4]


def test_what_is_computed_is_no_value_of_the_hosts(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import torch\nx, y = torch.ones(8), torch.ones(8)\nm = x > 0\nx[m] = y.mean()\nx[m] = 0.0\n")
    workload, _ = _run(script, tmp_path, pretend=False)
    told = [workload["sites"][e["site"]]["line"] for e in workload["ops"] if e["name"] == "torch.Tensor.to_host"]
    assert told == [4]


def test_a_cast_of_what_came_of_an_array_copies_nothing(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy, torch\ndevice = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
        "w = torch.ones(4, 4).to(device)\nfor _ in range(5):\n    t = torch.as_tensor(numpy.ones((8, 4)), "
        "device=device)\n"
        "    v = t.float() @ w\n"
    )
    for pretend in (True, False):
        (tmp_path / str(pretend)).mkdir()
        workload, _ = _run(script, tmp_path / str(pretend), pretend=pretend)
        assert _copies(workload, "h2d") == [64] + 5 * [256]


def test_captured_steps_are_replayed(tmp_path: Path) -> None:
    workload, out = _run(HERE / "programs" / "pytorch" / "torch_graphs.py", tmp_path)
    assert out == "the same\n"
    assert workload["optional_fields"] == ["graph"]
    # Two layers a step: ten steps one by one and three before the capture, which is one; six replays.
    assert _in_graphs(workload, "aten.addmm") == {None: 26, "capture": 2, "node": 12}
    assert _in_graphs(workload, "torch.cuda.CUDAGraph.replay") == {"launch": 6}
    assert _in_graphs(workload, "torch.cuda.synchronize") == {None: 1}


@pytest.mark.parametrize("fake", [False, True])
def test_graphed_callables_are_replayed(fake: bool, tmp_path: Path) -> None:
    workload, out = _run(HERE / "programs" / "pytorch" / "torch_graphed.py", tmp_path, fake=fake)
    assert out == "the same\n"
    # Sixty steps, each with a graph for the way there and one for the way back; three rounds before they are captured.
    # Before each capture the device is waited for, and twice around the rounds.
    assert _in_graphs(workload, "torch.cuda.synchronize") == {None: 4}
    assert _in_graphs(workload, "torch.cuda.CUDAGraph.replay") == {"launch": 120}
    assert _in_graphs(workload, "aten.addmm") == {None: 126, "capture": 2, "node": 120}
    assert _in_graphs(workload, "aten.tanh_backward") == {None: 63, "capture": 1, "node": 60}


@pytest.mark.parametrize("fake", [False, True])
def test_a_graph_has_memory_for_what_lives_at_a_time(fake: bool, tmp_path: Path) -> None:
    workload, out = _run(HERE / "programs" / "pytorch" / "torch_graph_memory.py", tmp_path, fake=fake)
    lines = out.splitlines()
    # In MiB: allocated, kept from others, the most so far. There are the input, a chain's result and the one before it,
    # and what a view keeps; the second graph needs one more beside what the first has left.
    assert [line for line in lines if not line.startswith("values")] == [
        "by itself 4 4 12",
        "captured 12 16 16",
        "replayed 12 16 16",
        "a second in the same memory 16 20 20",
        "gone 16 16 20",
    ]
    values = [f"values {2 * k + 1.0} {(2 * k + 1) * 1.5**20 + 4 * (2 * k + 1)}" for k in range(3)]
    assert fake or [line for line in lines if line.startswith("values")] == [*values, "values 2.0"]
    assert workload["program"]["device_peak_bytes"] == 20 << 20


WITHIN_A_CAPTURE = """
import torch
x, host, pinned = torch.ones(4, device="cuda"), torch.ones(4), torch.ones(4, pin_memory=True)
waits = {
    "item": lambda: x.sum().item(),
    "if": lambda: 1 if x.sum() > 0 else 0,
    "nonzero": lambda: x.nonzero(),
    "mask": lambda: x[x > 0],
    "synchronize": torch.cuda.synchronize,
    "stream": lambda: torch.cuda.current_stream().synchronize(),
    "waits for pinned": lambda: x.copy_(pinned),
}
copies = {
    "cpu": lambda: x.cpu(),
    "tolist": lambda: x.tolist(),
    "numbers": lambda: torch.tensor([1.0], device="cuda"),
    "from host": lambda: x.copy_(host, non_blocking=True),
    "to host": lambda: host.copy_(x),
}
goes_on = {
    "pinned": lambda: x.copy_(pinned, non_blocking=True),
    "back": lambda: x.to("cpu", non_blocking=True),
    "stream waits": lambda: torch.cuda.current_stream().wait_stream(torch.cuda.Stream()),
    "host's": lambda: host.sum().item(),
}
for name, call in {**waits, **copies, **goes_on}.items():
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            y = x * 2
            call()
        graph.replay()
    except RuntimeError as error:
        print(name, type(error).__name__, str(error)[:28], str(error.__context__)[:35], sep="|")
    assert not torch.cuda.is_current_stream_capturing()
print(x.sum().item())
"""


@pytest.mark.parametrize("fake", [False, True])
def test_the_host_waits_for_nothing_while_a_graph_is_captured(fake: bool, tmp_path: Path) -> None:
    import torch

    script = tmp_path / "script.py"
    script.write_text(WITHIN_A_CAPTURE)
    _, out = _run(script, tmp_path, fake=fake)
    *refused, last = out.splitlines()
    kind = "AcceleratorError" if hasattr(torch, "AcceleratorError") else "RuntimeError"
    waits = ("item", "if", "nonzero", "mask", "synchronize", "stream", "waits for pinned")
    copies = ("cpu", "tolist", "numbers", "from host", "to host")
    assert refused == [
        *(f"{name}|{kind}|CUDA error: operation failed|CUDA error: operation not permitted" for name in waits),
        *(f"{name}|RuntimeError|Cannot copy between CPU and |None" for name in copies),
    ]
    assert fake or last == "4.0"


def _in_graphs(workload: Any, name: str) -> dict[str | None, int]:
    """How often a call was what of a graph."""
    found: dict[str | None, int] = {}
    for entry in workload["ops"]:
        if entry["name"] == name:
            found[entry.get("graph")] = found.get(entry.get("graph"), 0) + entry["count"]
    return found


@pytest.mark.parametrize("fake", [False, True])
def test_torchscript(fake: bool, tmp_path: Path) -> None:
    workload, out = _run(HERE / "programs" / "pytorch" / "torch_script.py", tmp_path, fake=fake, pretend=False)
    assert out == "(16, 8) (16, 8)\n"
    assert sum(e["count"] for e in workload["ops"] if e["name"] == "aten.addmm") >= 4
    assert ("torch-jit" in {unseen["reason"] for unseen in workload["unseen"]}) == fake


def test_a_loader_pins_in_a_thread_of_its_own(tmp_path: Path) -> None:
    workload, out = _run(HERE / "programs" / "pytorch" / "torch_loader.py", tmp_path, "pinned")
    assert out.startswith("80 True ")
    copies = [
        (e["op"]["transfer"]["bytes"], e["op"]["transfer"]["pinned"], e["count"])
        for e in workload["ops"]
        if e["name"] == "torch.Tensor.to" and e["op"]["transfer"]["asynchronous"]
    ]
    assert sorted(copies) == [(32, True, 80), (1024, True, 80)]


@pytest.mark.parametrize("fake", [False, True])
def test_where_tensors_are(fake: bool, tmp_path: Path) -> None:
    _, out = _run(HERE / "programs" / "pytorch" / "torch_rotary.py", tmp_path, fake=fake)
    assert out.split() == ["cuda:0"] * 4 + ["cpu"] * 2


def test_a_model_too_large_for_the_machine(tmp_path: Path) -> None:
    workload, out = _run(HERE / "programs" / "pytorch" / "torch_large.py", tmp_path, fake=True, pretend=False)
    parameters = int(out.split()[0])
    assert parameters > 6.5e9
    assert workload["program"]["peak_roles"]["parameter"] == pytest.approx(parameters * 4, rel=0.01)
    unknown = [u["text"] for u in workload["unseen"] if u["reason"] == "unknown-value"]
    assert unknown and "torch_large.py:" in unknown[0]
    flop = sum(
        2 * op["m"] * op["n"] * op["k"] * op["batch"] * e["count"]
        for e in workload["ops"]
        if isinstance(e["op"], dict) and (op := e["op"].get("matmul"))
    )
    tokens = 512
    assert flop == pytest.approx(6 * parameters * tokens, rel=0.05)


def test_loops_that_wait_for_a_value_end(tmp_path: Path) -> None:
    script = tmp_path / "waits.py"
    script.write_text(
        "import torch\n"
        "torch.nn.init.trunc_normal_(torch.empty(300, 300), std=0.02)\n"
        "error = torch.rand(80)\n"
        "while error.max().item() > 1e-3:\n"
        "    error = error * 0.5\n"
    )
    workload, _ = _run(script, tmp_path, fake=True, pretend=False)
    unknown = [u["text"] for u in workload["unseen"] if u["reason"] == "unknown-value"]
    assert len(unknown) == 2 and all("waits.py:4" in text for text in unknown) and "a loop ends" in "".join(unknown)
    names = [entry["name"] for entry in workload["ops"]]
    assert names.count("aten.normal_") == 1


def test_small_values_are_worked_out_without_values(tmp_path: Path) -> None:
    script = tmp_path / "settings.py"
    script.write_text(
        "import torch\n"
        "print([round(rate.item(), 2) for rate in torch.linspace(0, 0.3, 4)], (torch.arange(3) * 8 + 16).tolist())\n"
        "base = torch.zeros(3); view = base[1:]; base.add_(2); print(view.sum().item(), bool((view > 1).all()))\n"
        "mask = torch.tensor([True, False, True])\n"
        "print(tuple(torch.arange(3)[mask].shape), torch.nonzero(mask).tolist(), torch.equal(mask, ~mask))\n"
        "print(torch.bincount(torch.tensor([0, 1, 1])).tolist(), torch.ones(2, device='cuda').cpu().numpy() * 3)\n"
        "error = torch.ones(8)\n"
        "while error.max().item() > 0.1:\n"
        "    error = error * 0.5\n"
        "print(error[0].item())\n"
        "words = torch.randint(0, 9, (8, 100), device='cuda'); known = torch.ones_like(words), words.new_zeros(3)\n"
        "print(bool(known[0].all()), known[1].tolist())\n"
    )
    workload, out = _run(script, tmp_path, fake=True)
    assert out.splitlines() == [
        "[0.0, 0.1, 0.2, 0.3] [16, 24, 32]", "4.0 True", "(2,) [[0], [2]] False", "[1, 2] [3. 3.]", "0.0625",
        "True [0, 0, 0]"
    ]  # fmt: skip
    assert not [u for u in workload["unseen"] if u["reason"] == "unknown-value"]


def test_what_an_unknown_value_was_written_to_is_not_known(tmp_path: Path) -> None:
    script = tmp_path / "lost.py"
    script.write_text("import torch\nbase = torch.zeros(3)\nview = "
                      "base[1:]\nview.mul_(torch.rand(90)[:2])\nprint(base[0].item())\n")
    workload, _ = _run(script, tmp_path, fake=True)
    assert [u for u in workload["unseen"] if u["reason"] == "unknown-value" and "lost.py:5" in u["text"]]


def test_optimizers_do_without_values_what_they_do_with_them(tmp_path: Path) -> None:
    script = tmp_path / "scaled.py"
    script.write_text("""import os, sys, torch
from torch import nn
net = nn.Sequential(nn.Linear(32, 16), nn.Linear(16, 8)).cuda()
opt = torch.optim.AdamW(net.parameters())
scaler = torch.amp.GradScaler("cuda", init_scale=1.0)
for _ in range(3):
    with torch.autocast("cuda", dtype=torch.float16):
        loss = net(torch.randn(4, 32, device="cuda")).square().mean()
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
    opt.zero_grad()
path = os.path.join(os.path.dirname(sys.argv[0]), "net.pt")
torch.save({"net": net.state_dict(), "epoch": 3}, path)
print(os.path.exists(path))
torch.save([1, 2], path)
print(torch.load(path))
""")
    calls, notes = [], []
    for fake in (True, False):
        folder = tmp_path / str(fake)
        folder.mkdir()
        workload, out = _run(script, folder, fake=fake)
        notes += [u["text"] for u in workload["unseen"] if "scaled.py:16" in u["text"]]
        assert out.splitlines()[-2:] == ["True", "[1, 2]"]
        ops = workload["ops"]
        calls.append({(e["name"], e["count"]) for e in ops if e["name"].startswith(("aten._foreach",
            "aten._amp_foreach"))})
        assert [size for size in _copies(workload, "d2h") if size > 4] == [4 * n for n in (32 * 16, 16, 16 * 8, 8)]
    assert calls[0] == calls[1] and ("aten._foreach_sqrt", 3) in calls[0]
    assert len(notes) == 1 and "wrote nothing" in notes[0]


@pytest.mark.parametrize("fake", [False, True])
def test_what_the_host_fills_is_copied(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "filled.py"
    script.write_text("""import torch
for i in range(5):
    t = torch.tensor([[i, 1]], device="cuda")
s = torch.as_tensor([1.0, 2.0, 3.0], device="cuda") + torch.ones(3, device="cuda")
same = torch.as_tensor(s, device="cuda")
print(t.device, s.device, same is s)
""")
    workload, out = _run(script, tmp_path, fake=fake)
    assert out.split() == ["cuda:0", "cuda:0", "True"]
    assert sorted(_copies(workload, "h2d")) == [12] + 5 * [16]


@pytest.mark.parametrize("pretend", [True, False])
def test_copies_are_exact_also_in_steps_that_go_unwatched(pretend: bool, tmp_path: Path) -> None:
    workload, out = _run(HERE / "programs" / "pytorch" / "torch_reads.py", tmp_path, pretend=pretend)
    assert out.splitlines()[-1] == "510 () True" and len(out.splitlines()) == 51
    assert workload["program"]["sampling"] > 1, "steps went unwatched"
    parameters = [4 * 16 * 32, 4 * 32, 4 * 32 * 4, 4 * 4]
    batches = 512 * [32 * 16 * 4, 32 * 8] + 256 * [64 * 16 * 4, 64 * 8]
    assert sorted(_copies(workload, "h2d")) == sorted(parameters + batches)
    sites = workload["sites"]
    read: dict[int, int] = {}
    for entry in workload["ops"]:
        op = entry["op"] if isinstance(entry["op"], dict) else {}
        if "host_read" in op or op.get("transfer", {}).get("direction") == "d2h":
            line = sites[entry["site"]]["line"]
            read[line] = read.get(line, 0) + entry["count"]
    lines = (HERE / "programs" / "pytorch" / "torch_reads.py").read_text().splitlines()
    of = {text: sum(read.get(n, 0) for n, line in enumerate(lines, 1) if text in line) for text in ("+= loss", "print",
        "correct +=")}
    # The line that prints copies one, and reads another.
    assert of == {"+= loss": 512, "print": 2 * 51, "correct +=": 256}


@pytest.mark.parametrize("fake", [False, True])
def test_what_only_unwatched_steps_made_is_where_its_like_was(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "longer.py"
    script.write_text("""import torch
data, there = torch.randn(400), torch.randn(400, 4).cuda()
net = torch.nn.Linear(4, 1).cuda()
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(80):
    n = 8 if step < 60 else 12
    index = torch.randperm(400)[:n]
    x, weight, noise = there[index.cuda()], data[index].cuda(), torch.rand(n)
    mask = torch.arange(n, device="cuda")[:, None] >= 3
    out = net(x).masked_fill(mask, 0.0)
    bias = torch.zeros_like(mask, dtype=torch.float32).masked_fill_(mask, 1.0)
    loss = (out.masked_fill(mask, 0.0) + torch.where(mask, bias, -bias)).squeeze() @ weight + (data[index] + noise).mean().item()
    opt.zero_grad(); loss.backward(); opt.step()
    if step == 60:
        print(mask.device, bias.device, noise.device, index.device)
""")
    workload, out = _run(script, tmp_path, fake=fake)
    assert workload["program"]["sampling"] > 1, "steps went unwatched"
    assert out == "cuda:0 cuda:0 cpu cpu\n"
    assert sorted(_copies(workload, "h2d")) == sorted([6400, 16, 4] + 60 * [32, 64] + 20 * [48, 96])
    zeros = [e for e in workload["ops"] if e["name"] == "aten.zeros_like"]
    assert sum(e["count"] for e in zeros) == 80 and {e.get("device") for e in zeros} == {"cuda:0"}


@pytest.mark.parametrize("fake", [False, True])
def test_what_another_thread_does_is_part_of_no_step(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "fed.py"
    script.write_text("""import queue, threading, torch
net = torch.nn.Linear(32, 2).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
fed = queue.Queue(2)
def feed(batches):
    for batch in batches:
        fed.put((batch.exp() * torch.ones(32)).to("cuda"))
    fed.put(None)
for epoch in range(2):
    threading.Thread(target=feed, args=([torch.randn(16, 32) for _ in range(100)],)).start()
    while (batch := fed.get()) is not None:
        loss = net(batch).square().mean()
        opt.zero_grad(); loss.backward(); opt.step()
""")
    workload, _ = _run(script, tmp_path, fake=fake)
    assert workload["program"]["sampling"] > 1, "steps went unwatched"
    assert sorted(_copies(workload, "h2d")) == sorted([256, 8] + 200 * [2048])
    counts: dict[str, int] = {}
    for entry in workload["ops"]:
        counts[entry["name"]] = counts.get(entry["name"], 0) + entry["count"]
    assert (counts["aten.exp"], counts["aten.addmm"]) == (200, 200)


@pytest.mark.parametrize("fake", [False, True])
def test_the_order_of_samples_is_the_hosts(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "shuffled.py"
    script.write_text("""import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
X, Y = torch.randn(256, 20), torch.randint(0, 3, (256,))
loader = DataLoader(TensorDataset(X, Y), batch_size=64, shuffle=True)
net = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 3)).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for x, y in loader:
        x, y = x.to("cuda"), y.to("cuda")
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        loss.item()
net(X.cuda()).argmax(1).cpu()
""")
    workload, _ = _run(script, tmp_path, fake=fake)
    assert workload["program"]["sampling"] > 1, "steps went unwatched"
    assert sorted(_copies(workload, "d2h")) == 12 * [4] + [256 * 8]
    assert sorted(_copies(workload, "h2d")) == sorted([1280, 64, 192, 12, 256 * 20 * 4] + 12 * [64 * 20 * 4, 64 * 8])


def test_warnings_point_at_the_script(tmp_path: Path) -> None:
    script = tmp_path / "warns.py"
    script.write_text("import torch\na = torch.ones(1, requires_grad=True)\nprint(float(a * 2))\nundefined\n")
    plain = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=240)
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(tmp_path), "BREAKEVEN_PRETEND_GPU": json.dumps(L4)}
    command = [sys.executable, "-m", "breakeven._run", str(script)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=240)
    assert "warns.py:3: UserWarning" in plain.stderr
    assert (done.stdout, done.stderr, done.returncode) == (plain.stdout, plain.stderr, plain.returncode)


def test_what_stays_on_the_cpu_copies_nothing(tmp_path: Path) -> None:
    script = tmp_path / "stays.py"
    script.write_text(
        "import torch\n"
        "model = torch.nn.Linear(4, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters())\n"
        "for _ in range(40):\n"
        "    loss = model(torch.ones(8, 4)).sum()\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "    assert loss.device.type == 'cpu' and loss.detach().cpu().numpy() == loss.item()\n"
    )
    workload, _ = _run(script, tmp_path)
    assert workload["program"]["sampling"] > 1
    assert _copies(workload, "h2d") == _copies(workload, "d2h") == []


def test_sparse_tensors_are_the_arrays_that_they_are_made_of(tmp_path: Path) -> None:
    workload, out = _run(HERE / "programs" / "pytorch" / "torch_sparse.py", tmp_path)
    assert out.splitlines() == [
        "cuda:0 cuda:0 True", "cuda:0 cuda:0 cuda:0 cuda:0", "torch.Size([4, 2])", "cpu"
    ]  # fmt: skip
    # Row pointers, columns, values; pairs of indices, values; what they are multiplied by.
    assert _copies(workload, "h2d") == [4 * 8, 3 * 8, 3 * 4, 2 * 3 * 8, 3 * 4, 2 * 5 * 4, 4 * 3 * 4]
    # How many pairs there are of one place, which the host waits for; indices and values.
    assert _copies(workload, "d2h") == [8, 2 * 3 * 8, 3 * 4]
    products = [e["op"]["sparse"] for e in workload["ops"] if isinstance(e["op"], dict) and "sparse" in e["op"]]
    by_rows = {"rows": 3, "cols": 2, "nnz": 3}
    assert sorted(((p.pop("kind"), p.pop("n")), tuple(p.items())) for p in products) == [
        (("spmm", 4), (("rows", 2), ("cols", 3), ("nnz", 3))),
        (("spmm", 5), tuple(by_rows.items())),
        (("spmm", 5), tuple(by_rows.items())),
        (("spmv", 1), tuple(by_rows.items())),
    ]  # fmt: skip
    assert not [e for e in workload["ops"] if e["name"] in ("aten._values", "aten._indices") and not e.get("phase")]


def test_within_a_backward_pass_the_gpu_is_there(tmp_path: Path) -> None:
    workload, out = _run(HERE / "programs" / "pytorch" / "torch_backward.py", tmp_path)
    assert out.splitlines() == [
        "cuda:0 cuda:0 True",
        "hook cuda:0",
        "cuda:0 cuda:0 True",
        "hook cuda:0",
        "cuda:0",
        "torch.cuda.FloatTensor torch.FloatTensor torch.float64",
        "True 0",
        "cuda:0",
        "out of memory",
    ]
    # None within a backward pass: what `.to` is given there is on the GPU. The last one finds no room, and is none.
    assert _copies(workload, "h2d") == [12]
    assert _copies(workload, "d2h") == [12]


WAITS = """
torch.nonzero(mask)
torch.where(mask)
a[mask]
a.__setitem__(mask, b[mask])
a.__setitem__(mask, a.mean())
a.clone().index_put_((mask,), torch.tensor(1.0), accumulate=True)
torch.ones(64, 2, device=device).__setitem__((mask, i % 1), 1.0)
torch.unique(i)
torch.masked_select(a, mask)
torch.repeat_interleave(a, i)
torch.bincount(i)
torch.bincount(i.byte())
torch.histc(a)
torch.equal(a, b)
torch.equal(a[1:], a[:-1])
torch.allclose(a, b)
torch.linalg.solve(s, s)
torch.linalg.svd(s)
torch.linalg.eig(s)
torch.linalg.eig(s.cfloat())
torch.linalg.eigvals(s, out=i.cfloat()[:4])
nn.functional.one_hot(i)
a.tolist()
repr(a)
if a.sum(): pass
"""
GOES_ON = """
torch.where(mask, a, b)
a.__setitem__(mask, 0.0)
a.__setitem__(mask, torch.tensor(0.0))
a[i]
torch.sort(a)
torch.repeat_interleave(a, 2)
torch.repeat_interleave(a, i, output_size=189)
torch.repeat_interleave(a[:0], i[:0])
torch.histc(a, min=0, max=1)
torch.bincount(i[:0])
torch.linalg.qr(s)
torch.multinomial(a + 1, 4)
torch.equal(a, a)
torch.equal(a, a[:7])
torch.equal(a[:0], b[:0])
nn.functional.one_hot(i, 7)
"""


@pytest.mark.parametrize("pretend", [True, False])
def test_the_host_waits_to_be_told_how_large_a_result_is(pretend: bool, tmp_path: Path) -> None:
    source = f"""import torch
from torch import nn
device = "cuda" if torch.cuda.is_available() else "cpu"
a, b, i, s = torch.ones(64, device=device), torch.ones(64, device=device), torch.arange(64, device=device) % 7, torch.eye(4)
s, mask = s.to(device), a > 0.5
{WAITS}{GOES_ON}"""
    script = tmp_path / "script.py"
    script.write_text(source)
    workload, _ = _run(script, tmp_path, pretend=pretend)
    lines, waits, sizes = source.splitlines(), {}, {}
    for entry in workload["ops"]:
        op = entry["op"] if isinstance(entry["op"], dict) else {}
        if "host_read" in op or op.get("transfer", {}).get("direction") == "d2h":
            line = lines[workload["sites"][entry["site"]]["line"] - 1]
            waits[line] = waits.get(line, 0) + entry["count"]
            sizes[line] = (op.get("host_read") or op["transfer"])["bytes"]
    assert (sizes["torch.equal(a, b)"], sizes["torch.nonzero(mask)"], sizes["torch.histc(a)"]) == (1, 8, 4)
    # Written to as well as read by a mask; the smallest and the largest, or the sum.
    twice = ("b[mask]", "repeat_interleave", "bincount(i)", "histc", "cfloat")
    expected = {line: 2 if any(part in line for part in twice) else 1 for line in WAITS.split("\n") if line}
    expected["torch.linalg.eig(s)"] = 3
    if pretend:
        # Which numbers there are, whether each is whole, how large they are (asked for each, too), each by itself, and
        # all of a line.
        expected["repr(a)"] = 1 + 64 + 3 + 64 + 64 + 1
    assert waits == expected


PRINTED = """import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
net = torch.nn.Linear(4, 3).to(device)
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(60):
    loss = net(torch.randn(8, 4).to(device)).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    line = str(loss.detach())
some, whole, large = torch.tensor([1.5, 2.5, 3.0, 4.25]).to(device), torch.arange(6).to(device), torch.full((40, 50), 1.5).to(device)
print(line, some, f"{some > 2}")
repr(whole)
str(large)
"""


@pytest.mark.parametrize("fake", [False, True])
def test_numbers_are_printed_where_they_are_one_by_one(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "printed.py"
    script.write_text(PRINTED)
    workload, out = _run(script, tmp_path, fake=fake)
    assert workload["program"]["sampling"] > 1, "steps went unwatched"
    plain = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=240).stdout
    if not fake:
        assert out == plain.replace(")", ", device='cuda:0')")
    reads, waits, ops = ({line: 0 for line in PRINTED.splitlines()} for _ in range(3))
    for entry in workload["ops"]:
        line = PRINTED.splitlines()[workload["sites"][entry["site"]]["line"] - 1]
        reads[line] += entry["count"] * (entry["name"] == "aten._local_scalar_dense")
        waits[line] += entry["count"] * (entry["name"] == "torch.Tensor.to_host")
        ops[line] += entry["count"] * (entry["name"] == "aten.masked_select")
    # As PyTorch's own code reads an equal tensor of the host's, and lines of it copied.
    expected = {'    line = str(loss.detach())': (60 * 7, 60), 'print(line, some, f"{some > 2}")': (12 + 4, 1 + 2),
        "repr(whole)": (6, 1)}
    expected["str(large)"] = (36 + 3 + 36 + 1, 1 + 6 * 2)
    assert {line: (reads[line], waits[line]) for line in expected} == expected
    assert ops['    line = str(loss.detach())'] == 60


def test_a_long_print_ends_no_loop(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
net = torch.nn.Linear(4, 3).to(device)
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
shown = torch.ones(2).to(device), torch.arange(900.0).to(device)
for step in range(60):
    loss = net(torch.randn(8, 4).to(device)).square().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    line = str(shown[step > 20 and step % 7 == 0])
print(loss.device)
""")
    workload, out = _run(script, tmp_path)
    assert out == "cuda:0\n"
    assert workload["program"]["sampling"] > 1, "steps went unwatched"
    assert sum(op["count"] for op in workload["ops"] if op["name"] == "aten._foreach_add_") == 60


def test_a_number_is_copied_to_an_element_and_filled_in_elsewhere(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""import torch
a = torch.zeros(8, 8, device="cuda")
a[0, 0] = 5.0
a[0] = 5.0
a[:, 1] = 5.0
a[[1, 2]] = 5.0
print(a.sum().item())
""")
    workload, out = _run(script, tmp_path)
    assert out == "145.0\n"
    # The element's value; the list of rows, and what is written to them.
    assert sorted(_copies(workload, "h2d")) == [4, 4, 16]


def test_classes_of_former_years(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""import torch
new = torch.cuda.FloatTensor
a = new([1, 2])
print(a, new(2, 3).shape, new(), new(a) is a, isinstance(a, new), isinstance(a.cpu(), new), new)
print(a.type(torch.cuda.HalfTensor), torch.ones(2).type(new).device, torch.cuda.LongTensor(torch.Size([4])).dtype)
torch.set_default_tensor_type("torch.cuda.FloatTensor")
print(torch.zeros(2).device, torch.tensor([1.0]).is_cuda)
torch.set_default_tensor_type(torch.FloatTensor)
print(torch.zeros(2).device)
""")
    workload, out = _run(script, tmp_path)
    assert out.splitlines() == [
        "tensor([1., 2.], device='cuda:0') torch.Size([2, 3]) tensor([], device='cuda:0') False True False "
        "<class 'torch.cuda.FloatTensor'>",
        "tensor([1., 2.], device='cuda:0', dtype=torch.float16) cuda:0 torch.int64",
        "cuda:0 True",
        "cpu",
    ]
    assert sorted(_copies(workload, "h2d")) == [4, 8, 8]


def test_a_part_of_the_gpus_memory_is_not_for_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(L4, "memory", 16 << 20)
    monkeypatch.setitem(L4, "usable", 12 << 20)
    script = tmp_path / "script.py"
    script.write_text("""import torch
print([size >> 20 for size in torch.cuda.mem_get_info()])
held = torch.empty(10 << 20, dtype=torch.int8, device="cuda")
torch.cuda.set_per_process_memory_fraction(0.95)
try:
    torch.empty(3 << 20, dtype=torch.int8, device="cuda")
except torch.cuda.OutOfMemoryError as error:
    print(str(error).partition(". Inc")[0])
""")
    _, out = _run(script, tmp_path)
    assert out.splitlines() == [
        "[12, 16]",
        "CUDA out of memory. Tried to allocate 3.00 MiB. GPU 0 has a total capacity of 16.00 MiB of which 2.00 MiB is "
        "free",
    ]


def test_what_does_not_fit_the_gpu_is_refused_before_this_machine_is_asked(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""import torch
try:
    torch.empty(10**12, device="cuda")
except torch.cuda.OutOfMemoryError as error:
    print(str(error).partition(", this")[0])
held = torch.empty(1 << 30, dtype=torch.float16, device="cuda")
del held
a = torch.zeros(1 << 27)
torch.cuda.set_per_process_memory_fraction(0.01)
try:
    a.cuda()
except torch.cuda.OutOfMemoryError as error:
    print(type(error).__mro__[1].__name__, torch.cuda.memory_allocated())
torch.empty(10**12, device="cuda")
""")
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(tmp_path), "BREAKEVEN_PRETEND_GPU": json.dumps(L4)}
    command = [sys.executable, "-m", "breakeven._run", str(script)]
    done = subprocess.run(command, env=env, capture_output=True, timeout=240, text=True)
    assert done.stdout.splitlines() == [
        "CUDA out of memory. Tried to allocate 3725.29 GiB. GPU 0 has a total capacity of 24.00 GiB of which 24.00 "
        "GiB is "
        "free. Including non-PyTorch memory",
        "RuntimeError 0",
    ]
    assert done.returncode == 1 and "goes on without values" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("torch.OutOfMemoryError: CUDA out of memory")
    (file,) = tmp_path.glob("*.breakeven.json")
    assert _copies(json.loads(file.read_text()), "h2d") == []


def test_parameters_without_a_shape_are_where_they_were_sent(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""import torch
model = torch.nn.Sequential(torch.nn.LazyLinear(3), torch.nn.ReLU(), torch.nn.LazyLinear(2)).to("cuda")
out = model(torch.ones(2, 5, device="cuda"))
out.sum().backward()
print(out.device, *(part.device for part in (*model.parameters(), model[0].weight.grad)))
""")
    workload, out = _run(script, tmp_path)
    assert out.split() == ["cuda:0"] * 6
    assert _copies(workload, "h2d") == []


def test_checkpoints_compute_again_what_they_saved(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""import torch
from torch.utils.checkpoint import checkpoint
x = torch.ones(3, device="cuda", requires_grad=True)
for reentrant in (False, True):
    checkpoint(lambda t: t.relu() * 2, x, use_reentrant=reentrant).sum().backward()
print(x.grad)
""")
    assert _run(script, tmp_path)[1] == "tensor([4., 4., 4.], device='cuda:0')\n"


@pytest.mark.parametrize("pretend", [False, True])
def test_without_values_a_script_finds_what_it_saved(pretend: bool, tmp_path: Path) -> None:
    script = tmp_path / "saved.py"
    script.write_text("""import io, os, sys, torch
from torch import nn
device = "cuda" if torch.cuda.is_available() else "cpu"
net, path = nn.Linear(4, 2).to(device), os.path.join(os.path.dirname(sys.argv[0]), "net.pt")
optimizer = torch.optim.Adam(net.parameters())
net(torch.ones(3, 4, device=device)).sum().backward()
optimizer.step()
torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, path + ".part")
os.replace(path + ".part", path)
found = torch.load(path, map_location=device)
net.load_state_dict(found["net"])
optimizer.load_state_dict(found["optimizer"])
print(found["epoch"], found["net"]["weight"].device.type == device, found["net"]["weight"] is net.weight, os.path.exists(path))
print({value.device.type for value in torch.load(path, map_location="cpu")["net"].values()})
buffer = io.BytesIO()
torch.save(net.state_dict(), buffer)
buffer.seek(0)
print(sorted(torch.load(buffer)))
torch.save([1, 2], path)
print(torch.load(path))
""")
    workload, out = _run(script, tmp_path, fake=True, pretend=pretend)
    lines = ["3 True False True", "{'cpu'}", "['bias', 'weight']", "[1, 2]"]
    assert out.splitlines() == lines
    saved = [u["text"] for u in workload["unseen"] if "torch.save" in u["text"]]
    assert len(saved) == 2
    # Parameters, the input; all that was in the file but the epoch; the buffer's.
    if pretend:
        assert sorted(_copies(workload, "h2d")) == sorted([32, 8] + 3 * [32, 8] + [4, 4] + [32, 8])


def test_a_file_without_values_is_there_to_the_script_alone(tmp_path: Path) -> None:
    script = tmp_path / "files.py"
    script.write_text("""import os, pathlib, shutil, sys, torch
os.chdir(os.path.dirname(sys.argv[0]))
net = torch.nn.Linear(10, 5).cuda()
torch.save({"epoch": 1, "net": net.state_dict()}, "last.pt")
shutil.copyfile("last.pt", "best.pt")
os.mkdir("all")
print(os.path.isfile("best.pt"), pathlib.Path("last.pt").exists(), os.path.exists("other.pt"), shutil.move("last.pt", "all"))
print(os.path.getsize("best.pt"), os.path.exists("last.pt"), list(torch.load("all/last.pt")))
os.remove("best.pt")
pathlib.Path("all/last.pt").unlink()
for path in ("best.pt", "all/last.pt"):
    try:
        os.remove(path)
    except FileNotFoundError:
        print("no", path)
shutil.rmtree("all")
""")
    out = "True True False all/last.pt\n220 False ['epoch', 'net']\nno best.pt\nno all/last.pt\n"
    assert _run(script, tmp_path, fake=True)[1] == out
    assert not list(tmp_path.rglob("*.pt"))


def test_without_values_a_library_finds_the_safetensors_that_it_saved(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    script = tmp_path / "saved.py"
    script.write_text("""import os, sys, torch
from safetensors import safe_open
from safetensors.torch import load_model, save_model
path = os.path.join(os.path.dirname(sys.argv[0]), "net.safetensors")
net = torch.nn.Linear(10, 5).cuda().half()
save_model(net, path)
with safe_open(path, framework="pt", device="cuda") as file:
    part = file.get_slice("weight")
    print(list(file.keys()), part.get_shape(), part.get_dtype(), part[1:3].shape, file.get_tensor("bias").device)
print(load_model(torch.nn.Linear(10, 5), path))
""")
    out = "['bias', 'weight'] [5, 10] F16 torch.Size([2, 10]) cuda:0\n(set(), [])\n"
    workload, seen = _run(script, tmp_path, fake=True)
    assert seen == out
    # What was saved, in single precision to the GPU, and what was read there.
    assert sorted(_copies(workload, "d2h")) == [10, 100] and sorted(_copies(workload, "h2d")) == [10, 20, 40, 200]


@pytest.mark.parametrize("fake", [False, True])
@pytest.mark.parametrize("asks", ["net.cuda()", "torch.ones(3, device='cuda')", "net(torch.ones(3, 4)).to('cuda')"])
def test_a_script_that_needs_a_gpu_is_told_how_to_have_one(asks: str, fake: bool, tmp_path: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    script = tmp_path / "needs.py"
    script.write_text(f"import torch\nnet = torch.nn.Linear(4, 2)\ntry:\n    torch.cuda.init()\nexcept Exception: "
                      f"pass\n{asks}\n")
    environment = {"BREAKEVEN_RECORD_DIR": str(tmp_path / "record")} | ({"BREAKEVEN_FAKE": "1"} if fake else {})
    (tmp_path / "record").mkdir()
    plain = subprocess.run([sys.executable, script], capture_output=True, text=True)
    run = [sys.executable, "-m", "breakeven._run", script]
    recorded = subprocess.run(run, env=os.environ | environment, capture_output=True, text=True)
    assert (plain.returncode, recorded.returncode) == (1, 1)
    assert plain.stderr.splitlines()[-1] == recorded.stderr.splitlines()[-1]
    if not fake:
        assert plain.stderr == recorded.stderr
    [file] = (tmp_path / "record").glob("*.json")
    told = [u for u in json.loads(file.read_text())["unseen"] if u["reason"] == "no-gpu"]
    assert len(told) == 1 and "needs.py:6" in told[0]["text"] and told[0]["count"] == 1, told
    # `breakeven run` makes a command of what stands behind the colon.
    assert told[0]["text"].partition(": ")[2].startswith("--pretend-gpu NAME"), told


def test_without_values_numbers_are_ordinary(tmp_path: Path) -> None:
    script = tmp_path / "ordinary.py"
    script.write_text("""import math, torch
loss, grads = torch.ones(3, 4, requires_grad=True).square().sum(), [torch.rand(50), torch.rand(60)]
never = [
    torch.isnan(loss), torch.isinf(loss), ~torch.isfinite(loss), torch.isnan(loss).any(), loss != loss, loss == float("inf"),
    torch.isnan(loss) | torch.isinf(loss), torch.logical_or(torch.isnan(loss), torch.isinf(loss)), loss.isnan().item(),
    torch.isnan(grads[0]).sum() > 0, not torch.isfinite(grads[0]).all(), any(torch.isnan(g).any() for g in grads),
    torch.stack([g.isnan().any() for g in grads]).any(), not math.isfinite(loss.item()),
    torch.isnan(grads[0].view(-1)).float().sum() > 0, loss.abs() == math.inf, math.isnan(float(loss)), loss > 1e9,
]
print([i for i, answer in enumerate(never) if answer])
print(bool(torch.isfinite(loss)), bool((loss < float("inf")).all()), bool(loss > 0.5))
lazy = torch.nn.Sequential(torch.nn.LazyLinear(3), torch.nn.LazyBatchNorm1d())
print(lazy.to("cpu")(torch.rand(8, 64)).shape)
""")
    workload, out = _run(script, tmp_path, fake=True, pretend=False)
    assert out.splitlines() == ["[]", "True True True", "torch.Size([8, 3])"]
    told = [u["text"] for u in workload["unseen"] if "NaN or infinite" in u["text"]]
    assert any("ordinary.py:10" in text and "neither" in text for text in told)


def test_without_values_what_is_checked_is_sound(tmp_path: Path) -> None:
    """Matrices have their factors, what a distribution is given is in its support, and what has another shape is not
    equal."""
    script = tmp_path / "sound.py"
    script.write_text("""import torch
a = torch.randn(5, 5, device="cuda")
for info in (torch.linalg.cholesky_ex(a).info, torch.linalg.inv_ex(a).info, torch.linalg.lu_factor_ex(a).info):
    print(bool(torch.any(info)), (info > 0).any().item(), int(info.max()))
chosen = torch.distributions.Categorical(logits=torch.randn(1, 2, device="cuda"))
action = chosen.sample()
print(chosen.log_prob(action).shape, torch.distributions.Normal(a.mean(), a.std().exp()).log_prob(a).shape)
sobol = torch.quasirandom.SobolEngine(3, scramble=True)
print(sobol.draw(8).to(a).shape, sobol.fast_forward(4).draw(4, dtype=torch.float64).dtype)
print(torch.equal(a, a[:3]), torch.equal(a, a.clone()), a.equal(torch.randn(5, device="cuda")))
""")
    workload, out = _run(script, tmp_path, fake=True)
    lines = out.splitlines()
    assert lines[:3] == ["False False 0"] * 3
    assert lines[3:5] == ["torch.Size([1]) torch.Size([5, 5])", "torch.Size([8, 3]) torch.float64"]
    assert lines[5:] == ["False True False"]
    told = [u["text"] for u in workload["unseen"] if "can be factorised" in u["text"]]
    assert any("sound.py:4" in text and "that it can" in text for text in told)


def test_lazy_modules_and_the_allocators_table(tmp_path: Path) -> None:
    script = tmp_path / "lazy.py"
    script.write_text("""import torch
net = torch.nn.Sequential(torch.nn.LazyLinear(3), torch.nn.LazyBatchNorm1d()).cuda()
print(net(torch.rand(8, 64, device="cuda")).device, {buffer.device.type for buffer in net.buffers()})
rows = torch.nested.nested_tensor([torch.rand(3, 4), torch.rand(5, 4)], layout=torch.jagged, device="cuda")
print((rows * 2).values().device)
print([line.split("|")[2].strip() for line in torch.cuda.memory_summary().splitlines() if "| Allocated memory " in line])
print(torch.cuda.memory_stats()["num_ooms"], torch.cuda.memory_stats(0)["active_bytes.all.peak"] > 2048)
""")
    _, out = _run(script, tmp_path)
    assert out.splitlines()[:2] == ["cuda:0 {'cuda'}", "cuda:0"]
    assert out.splitlines()[2:] == [out.splitlines()[2], "0 True"] and out.splitlines()[2] != "['0 B']"


@pytest.mark.parametrize("fake", [False, True])
def test_arrays_of_cupy_are_shared_and_not_copied(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "shared.py"
    script.write_text(
        "import cupy as cp, torch\n"
        "a = cp.arange(6, dtype=cp.float32)\n"
        "t = torch.from_dlpack(a)\n"
        "c = torch.as_tensor(a, device='cuda')\n"
        "print(torch.cuda.memory_allocated())\n"
        "b = cp.from_dlpack(torch.ones(3, device='cuda') * 2)\n"
        "d = cp.asarray(torch.arange(4.0).cuda())\n"
        "print(t.device, (t * 2).device, c.device, type(b).__name__, type(d).__name__)\n"
        "into = torch.utils.dlpack.from_dlpack(a.toDlpack())\n"
        "back = torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(t))\n"
        "print(into.device, back.device, torch.utils.dlpack.from_dlpack(torch.to_dlpack(torch.ones(2))).device)\n"
        "try:\n    cp.from_dlpack(torch.ones(3))\nexcept TypeError:\n    print('refused')\n"
    )
    workload, out = _run(script, tmp_path, fake=fake)
    assert out.splitlines() == ["0", "cuda:0 cuda:0 cuda:0 ndarray ndarray", "cuda:0 cuda:0 cpu", "refused"]
    assert (_copies(workload, "h2d"), _copies(workload, "d2h")) == ([16], [])


def test_tensors_filled_with_arrays_of_cupy(tmp_path: Path) -> None:
    """They stay on the GPU where that is named: PyTorch puts them on the host where nothing is."""
    script = tmp_path / "filled.py"
    script.write_text("""import cupy as cp, torch
a = cp.arange(6, dtype=cp.float64)
same, half = torch.as_tensor(a, device="cuda"), torch.as_tensor(a, dtype=torch.float32, device="cuda")
new = torch.tensor(a, device="cuda", requires_grad=True)
same += 1
print(float(a[0]), half.dtype, half.device, new.requires_grad, new[0].item())
print([function(a).device.type for function in (torch.as_tensor, torch.tensor, torch.asarray)], torch.as_tensor(a)[0].item())
""")
    workload, out = _run(script, tmp_path)
    assert out.splitlines() == ["1.0 torch.float32 cuda:0 True 0.0", "['cpu', 'cpu', 'cpu'] 1.0"]
    assert (_copies(workload, "h2d"), _copies(workload, "d2h")) == ([], [8, 8, 48, 48, 48, 48])


def test_without_values_scripts_go_on_where_values_decide(tmp_path: Path) -> None:
    """Sizes, generators' states, alignments and 8-bit models: what no tensor without values has."""
    script = tmp_path / "goes_on.py"
    script.write_text(
        "import torch\n"
        "from torch import nn\n"
        "x = torch.randint(0, 10, (100,)).cuda()\n"
        "print(torch.bincount(x, minlength=20).shape[0], torch.unique(x).dim(), torch.unique_consecutive(x).dim())\n"
        "print([part.dim() for part in torch.unique(x, return_inverse=True, return_counts=True)])\n"
        "print(torch.repeat_interleave(torch.randn(5, 2).cuda(), x[:5], dim=0).shape[1])\n"
        "log = torch.randn(50, 4, 20, device='cuda', requires_grad=True).log_softmax(2)\n"
        "loss = nn.functional.ctc_loss(log, torch.randint(1, 20, (4, 12)).cuda(), torch.full((4,), 50), "
        "torch.full((4,), 12))\n"
        "loss.backward()\n"
        "torch.save({'state': torch.get_rng_state()}, 'states.pt')\n"
        "torch.set_rng_state(torch.load('states.pt')['state'])\n"
        "net = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(8, 4)), {nn.Linear}, dtype=torch.qint8)\n"
        "print(net(torch.randn(2, 8)).shape)\n"
        "s = torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 0]]), torch.tensor([1.0, 2.0]), (2, 2)).cuda()\n"
        "print((s @ torch.ones(2, 1, device='cuda')).shape)\n"
    )
    workload, out = _run(script, tmp_path, fake=True)
    lines = out.splitlines()
    assert lines[:3] == ["20 1 1", "[1, 1, 1]", "2"]
    assert lines[3:] == ["torch.Size([2, 4])", "torch.Size([2, 1])"]
    texts = [unseen["text"] for unseen in workload["unseen"]]
    assert any("as many as there can be" in text for text in texts) and any("quantize_dynamic" in text
        for text in texts)


@pytest.mark.parametrize("fake", [False, True])
def test_what_a_gpu_has_kernels_for(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""
import torch
counts = torch.histc(torch.tensor([1, 2, 2, 5], device="cuda"), bins=4, min=1, max=5)
print(counts.dtype, counts.device, tuple(counts.shape))
layer = torch.nn.LSTM(8, 16, 2, batch_first=True).cuda()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for step in range(30):
    with torch.autocast("cuda"):
        loss = layer(torch.rand(2, 5, 8, device="cuda"))[0].float().pow(2).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
print(layer.half()(torch.rand(2, 5, 8, device="cuda").half())[0].dtype, torch.isfinite(loss).item())
""")
    workload, out = _run(script, tmp_path, fake=fake)
    assert out.splitlines() == ["torch.int64 cuda:0 (4,)", "torch.float16 True"]
    layers = [e for e in workload["ops"] if e["name"].startswith("aten.lstm")]
    counts = {name: sum(e["count"] for e in layers if e["name"] == name) for name in ("aten.lstm",
        "aten.lstm_backward")}
    assert counts == {"aten.lstm": 2 * 31, "aten.lstm_backward": 2 * 30} and {e["dtype"] for e in layers} == {"f16"}


def test_without_values_chance_decides_on_few(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""
import torch
def turned(k):
    return k[int(torch.empty(1).uniform_(0.0, float(len(k))).item())]
print({turned((0, 1)) for _ in range(100)}, turned((7,)), sorted(torch.randperm(4).tolist()))
tries = 0
while torch.rand(()) > 0.1:
    tries += 1
print(tries < 1000)
loss = torch.rand(100, device="cuda").sum()
print(f"{loss:.3f} {torch.rand(100).mean():>8.1e}|{torch.tensor(2)}")
with torch.autograd.detect_anomaly():
    torch.nn.Linear(4, 4)(torch.rand(2, 4)).sum().backward()
import copy
network = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4))
network(torch.rand(2, 3, 8, 8)).sum().backward()
mean = copy.deepcopy(network)
print(len(list(mean.parameters())), mean[0].weight.requires_grad, mean[0].weight.grad, copy.deepcopy(torch.arange(3) + 1).tolist())
try:
    print(f"{torch.rand(100):.2f}")
except TypeError:
    print("as ever")
""")
    _, out = _run(script, tmp_path, fake=True)
    assert out.splitlines() == ["{0, 1} 7 [0, 1, 2, 3]", "True", "1.000  1.0e+00|2", "4 True None [1, 2, 3]", "as ever"]


@pytest.mark.parametrize("fake", [False, True])
def test_what_a_script_keeps_in_its_own_way_is_copied(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "keeps.py"
    script.write_text("""import torch
from torch.autograd.graph import save_on_cpu, saved_tensors_hooks
a, b = (torch.randn(100, 10, device="cuda", requires_grad=True) for _ in range(2))
def pack(tensor):
    print(tensor.device, end=" ")
    return tensor.device, tensor.cpu()
def unpack(kept):
    tensor = kept[1].to(kept[0])
    print(kept[1].device, tensor.device, end=" ")
    return tensor
with saved_tensors_hooks(pack, unpack):
    y = a * b
y.sum().backward()
with save_on_cpu(pin_memory=True):
    y = torch.nn.functional.scaled_dot_product_attention(*3 * [a.view(1, 1, 100, 10)], dropout_p=0.1)
y.sum().backward()
try:
    with saved_tensors_hooks(lambda tensor: 1 / 0, unpack):
        a * b
except ZeroDivisionError as error:
    print(error, error.__traceback__.tb_next.tb_next)
""")
    workload, out = _run(script, tmp_path, fake=fake)
    assert out == "cuda:0 cuda:0 cpu cuda:0 cpu cuda:0 division by zero None\n"
    names = ("torch.Tensor.to_host", "torch.Tensor.to")
    copies = [[e for e in workload["ops"] if e["name"] == name and e["op"]["transfer"]["bytes"] == 4000]
        for name in names]
    # Two of the product; of attention its three inputs and the result.
    assert [sum(e["count"] for e in of_name) for of_name in copies] == [6, 6]
    assert {e.get("phase") for e in copies[1]} == {"backward"}


@pytest.mark.parametrize("fake", [False, True])
def test_kernels_of_a_script_run_on_the_gpu(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "kernels.py"
    script.write_text("""import torch
seen = []
@torch.library.custom_op("mine::shifted", mutates_args=())
def shifted(x: torch.Tensor) -> torch.Tensor:
    seen.append(x.device)
    return x + torch.ones(4, device="cuda") + torch.ones(4, device=x.device)
shifted.register_fake(torch.empty_like)
def backward(ctx, gradient):
    seen.append(gradient.device)
    return gradient * torch.ones(4, device=gradient.device)
shifted.register_autograd(backward)
library = torch.library.Library("mine", "FRAGMENT")
library.define("doubled(Tensor x) -> Tensor")
library.impl("doubled", lambda x: (seen.append(x.device), x * torch.full((4,), 2.0, device=x.device))[1], "CompositeImplicitAutograd")
x = torch.randn(8, 4, device="cuda", requires_grad=True)
y = torch.ops.mine.doubled(shifted(x))
y.sum().backward()
print(set(seen), y.device, x.grad.device)
""")
    workload, out = _run(script, tmp_path, fake=fake)
    assert out == "{device(type='cuda', index=0)} cuda:0 cuda:0\n"
    assert not [u for u in workload["unseen"] if u["reason"] == "hook-failed"]


@pytest.mark.parametrize("fake", [False, True])
def test_a_kernel_runs_once_and_where_its_tensors_are(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "kernels.py"
    script.write_text("""import torch
seen = []
def noted(kind):
    def kernel(x):
        seen.append((kind, x.device.type, x.is_cuda))
        return x * 2
    return kernel
library = torch.library.Library("mine", "DEF")
library.define("doubled(Tensor x) -> Tensor")
library.impl("doubled", noted("cpu"), "CPU")
library.impl("doubled", noted("cuda"), "CUDA")
@torch.library.custom_op("mine::shifted", mutates_args=(), device_types="cuda")
def shifted(x: torch.Tensor) -> torch.Tensor:
    seen.append(("shifted", x.device.type, x.is_cuda))
    return x + 1
@torch.library.custom_op("mine::raised", mutates_args=("x",))
def raised(x: torch.Tensor) -> None:
    seen.append(("raised", x.device.type, x.is_cuda))
    x.add_(1)
there, here = torch.ones(3, device="cuda"), torch.ones(3)
double = torch.ops.mine.doubled
print(double(there).device, double(here).device, shifted(there).device, raised(there))
try:
    shifted(here)
except NotImplementedError as error:
    print("Could not run" in str(error))
print(seen)
""")
    workload, out = _run(script, tmp_path, fake=fake)
    seen = [("cuda", "cuda", True), ("cpu", "cpu", False), ("shifted", "cuda", True), ("raised", "cuda", True)]
    assert out.splitlines() == ["cuda:0 cpu cuda:0 None", "True", str(seen)]
    assert sum(e["count"] for e in workload["ops"] if e["name"].startswith("mine.") and e.get("device")) == 3


def test_what_names_a_device_without_a_tensor(tmp_path: Path) -> None:
    script = tmp_path / "devices.py"
    script.write_text("""import torch
drawn = [torch.randn(3, generator=torch.Generator("cuda").manual_seed(3), device="cuda") for _ in range(2)]
generator = torch.Generator(device="cuda:0")
print((drawn[0] == drawn[1]).all().item(), generator.device, isinstance(generator, torch.Generator))
print(isinstance(torch.default_generator, torch.Generator), torch.Generator().device)
before = torch.cuda.memory_allocated()
borrowed = torch.from_dlpack(drawn[0])
print(borrowed.device, torch.cuda.memory_allocated() == before > 0)
nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], device="cuda")
print(nested.device, nested.to_padded_tensor(0.0).device)
for wrong in (
    lambda: torch.randn(2, generator=torch.Generator(), device="cuda"),
    lambda: torch.randn(2, generator=generator, device="cpu"),
    lambda: torch.ones(2).cuda(3),
):
    try:
        wrong()
    except RuntimeError as error:
        print(error)
print(torch.ones(2).cuda(0).device, torch.ones(2).cuda(device="cuda:0", non_blocking=True).device)
""")
    _, out = _run(script, tmp_path)
    assert out.splitlines() == [
        "True cuda:0 True",
        "True cpu",
        "cuda:0 True",
        "cuda:0 cuda:0",
        "Expected a 'cuda' device type for generator but found 'cpu'",
        "Expected a 'cpu' device type for generator but found 'cuda'",
        "CUDA error: invalid device ordinal",
        "cuda:0 cuda:0",
    ]


@pytest.mark.parametrize("fake", [False, True])
def test_networks_that_are_made_without_memory_first(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "meta.py"
    script.write_text("""import torch
with torch.device("meta"):
    network = torch.nn.Sequential(torch.nn.Linear(10, 10), torch.nn.BatchNorm1d(10))
network = network.to_empty(device="cuda")
for parameter in network.parameters():
    torch.nn.init.ones_(parameter)
y = network(torch.ones(4, 10, device="cuda"))
y.sum().backward()
print(y.device, network[0].weight.device, network[0].weight.grad.device, torch.cuda.memory_allocated() >= 4 * 2 * 130)
""")
    _, out = _run(script, tmp_path, fake=fake)
    assert out == "cuda:0 cuda:0 cuda:0 True\n"


@pytest.mark.parametrize("fake", [False, True])
def test_tensors_that_wrap_others_are_where_those_are(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "wraps.py"
    script.write_text("""import torch
from torch.utils._pytree import tree_map
class Scaled(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        words = {"dtype": inner.dtype, "device": inner.device, "requires_grad": inner.requires_grad}
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, **words)
    def __init__(self, inner):
        self.inner = inner
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        bare = lambda one: one.inner if isinstance(one, Scaled) else one
        result = func(*tree_map(bare, args), **tree_map(bare, kwargs or {}))
        return tree_map(lambda one: Scaled(one) if isinstance(one, torch.Tensor) else one, result)
wrapped = Scaled(torch.randn(8, 8, device="cuda"))
result = wrapped @ wrapped + torch.ones(8, device="cuda")
print(type(result).__name__, wrapped.device, result.device, result.inner.device, (result.inner * 2).device)
layer = torch.nn.Linear(8, 8).cuda()
layer.weight = torch.nn.Parameter(Scaled(layer.weight.detach()), requires_grad=False)
y = layer(torch.randn(2, 8, device="cuda", requires_grad=True))
y.sum().backward()
print(y.device, layer.bias.grad.device, result.cpu().device)
wrapped.requires_grad_()
(wrapped @ wrapped).sum().backward()
print(type(wrapped.grad).__name__, wrapped.grad.device)
try:
    result + Scaled(torch.ones(8, 8))
except RuntimeError as error:
    print(str(error)[:45])
""")
    workload, out = _run(script, tmp_path, fake=fake)
    assert out == (
        "Scaled cuda:0 cuda:0 cuda:0 cuda:0\ncuda:0 cuda:0 cpu\nScaled cuda:0\nExpected all tensors to be "
        "on the same device\n"
    )
    assert not [u for u in workload["unseen"] if u["reason"] == "hook-failed"]
    assert workload["program"]["device_peak_bytes"] < 9 * 8 * 8 * 4


def test_what_any_gpu_is_asked(tmp_path: Path) -> None:
    script = tmp_path / "asked.py"
    script.write_text("""import torch
with torch.accelerator.device_index(0):
    print(torch.accelerator.current_device_index(), torch.accelerator.get_memory_info())
torch.cuda.manual_seed(5)
print(torch.cuda.initial_seed(), torch.cuda.random.initial_seed(), torch.cuda.default_generators[0].device)
torch.manual_seed(6)
print(torch.cuda.initial_seed())
pool = torch.cuda.MemPool()
with torch.cuda.use_mem_pool(pool):
    x = torch.ones(1000, device="cuda")
print(torch.cuda.memory_allocated(), torch.cuda.utilization())
""")
    workload, out = _run(script, tmp_path)
    assert out.splitlines() == [f"0 ({24 << 30}, {24 << 30})", "5 5 cuda:0", "6", "4000 0"]
    [told] = [u["text"] for u in workload["unseen"] if u["reason"] == "unknown-value"]
    assert "torch.cuda.utilization is not known" in told


@pytest.mark.parametrize("fake", [False, True])
def test_a_module_goes_where_a_keyword_says(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "goes.py"
    script.write_text(
        "import torch\n"
        "net = torch.nn.Linear(3, 2).to(device='cuda', dtype=torch.float64)\n"
        "there = {'device': torch.device('cuda')}\n"
        "print(net.weight.device, net.weight.dtype, torch.nn.Linear(3, 2).to(**there).weight.device)\n"
        "print(net.to(device='cpu').weight.device, net.to(dtype=torch.float32).weight.device)\n"
    )
    workload, out = _run(script, tmp_path, fake=fake)
    assert out.splitlines() == ["cuda:0 torch.float64 cuda:0", "cpu cpu"]
    assert sorted(_copies(workload, "h2d")) == [8, 16, 24, 48]
    assert sorted(_copies(workload, "d2h")) == [16, 48]


@pytest.mark.parametrize("fake", [False, True])
def test_a_module_goes_where_a_tensor_is(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "goes.py"
    script.write_text(
        "import torch\n"
        "x = torch.randn(2, 3, device='cuda', dtype=torch.float64)\n"
        "net = torch.nn.Linear(3, 2).to(x)\n"
        "print(net.weight.device, net.weight.dtype, net(x).is_cuda, torch.nn.Linear(3, "
        "2).to(torch.zeros(1)).weight.device)\n"
        "print(torch.arange(3).type_as(x).device, torch.zeros(2).type_as(other=x).dtype)\n"
    )
    workload, out = _run(script, tmp_path, fake=fake)
    assert out.splitlines() == ["cuda:0 torch.float64 True cpu", "cuda:0 torch.float64"]
    assert sorted(_copies(workload, "h2d")) == [16, 16, 24, 48]


@pytest.mark.parametrize("fake", [False, True])
def test_what_is_like_another_is_on_the_device_that_it_is_given(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "like.py"
    script.write_text("""import torch
v = torch.ones(1000, device="cuda")
host = torch.empty(1000)
p = torch.empty_like(v, device="cpu", pin_memory=True)
p.copy_(v)
q = torch.zeros_like(v, device="cpu")
made = [p, q, v.new_empty(9, device="cpu"), torch.as_tensor(v, device="cpu"), torch.tensor(v.detach(), device="cpu")]
print({str(tensor.device) for tensor in made}, torch.zeros_like(host, device="cuda").device, len(q.numpy()))
losses = torch.tensor([v.sum(), v.double().mean(), 3])
print(losses.device, losses.dtype, len(losses.numpy()))
""")
    workload, out = _run(script, tmp_path, fake=fake)
    assert out.splitlines() == ["{'cpu'} cuda:0 1000", "cpu torch.float64 3"]
    crossed = [(op["op"]["transfer"]["direction"], op["op"]["transfer"]["bytes"], op["count"])
               for op in workload["ops"] if op["name"].startswith("torch.Tensor.to")]  # fmt: skip
    assert crossed == [("d2h", 4000, 1), ("d2h", 4000, 2)]


@pytest.mark.parametrize("fake", [False, True])
def test_what_a_gpu_does_not_take_from_the_host(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "refused.py"
    script.write_text("""import torch
on = {"device": "cuda"}
c, g, i, z, x = torch.randn(6, 3), torch.randn(6, 3, **on), torch.tensor([0, 1], **on), torch.tensor(0.0), torch.randn(3, 7, 4, **on)
gru, lstm = torch.nn.GRU(4, 8, batch_first=True), torch.nn.LSTM(4, 8, batch_first=True).cuda()
for wrong in (
    lambda: c[i],
    lambda: c[g[:, 0] > 0],
    lambda: c.__setitem__(i, 1.0),
    lambda: c.__setitem__(torch.tensor([0]), g[:1]),
    lambda: g.__setitem__(i, c[:2]),
    lambda: z.add_(g.sum()),
    lambda: torch.stack([g.sum(), z]),
    lambda: torch.add(g, g, out=c),
    lambda: torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor([7, 5, 2], **on), batch_first=True),
    lambda: gru(x),
    lambda: lstm(x.cpu()),
    lambda: lstm(x, (torch.zeros(1, 3, 8), torch.zeros(1, 3, 8))),
    lambda: torch.cuda.set_device(1),
):
    try:
        wrong()
        print("taken")
    except RuntimeError as error:
        print(str(error).split("(when")[0].strip())
g[i] = 1.0
g[torch.tensor([0, 1])] = torch.tensor(2.0)
g.add_(z)
c[torch.tensor([0])] = 1.0
c[torch.tensor([0])] = g.sum()
print(lstm(torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor([7, 5, 2]), batch_first=True))[0].data.device)
""")
    _, out = _run(script, tmp_path, fake=fake)
    differ = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
    index = "indices should be either on cpu or on the same device as the indexed tensor (cpu)"
    values = "expected self and values to be on the same device, but got self on {} and values on {}"
    assert out.splitlines() == [
        index, index, index, values.format("cpu", "cuda:0"), values.format("cuda:0", "cpu"), differ, differ, differ,
        "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor",
        "Input and parameter tensors are not at the same device, found input tensor at cuda:0 and parameter tensor at "
        "cpu",
        "Input and parameter tensors are not at the same device, found input tensor at cpu and parameter tensor at "
        "cuda:0",
        "Input and hidden tensors are not at the same device, found input tensor at cuda:0 and hidden tensor at cpu",
        "CUDA error: invalid device ordinal",
        "cuda:0",
    ]  # fmt: skip


@pytest.mark.parametrize("fake", [False, True])
def test_a_scripts_own_dispatch_mode_sees_the_gpu(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "mode.py"
    script.write_text("""import torch
from torch.utils._python_dispatch import TorchDispatchMode
class Seen(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {})) + torch.ones(3, device="cuda")
        print(func, result.device, result.is_cuda)
        return result
x = torch.ones(3, device="cuda")
with Seen():
    y = torch.relu(x)
    z = torch.zeros(3, device="cuda")
    w = torch.empty_like(z, device="cuda")
print(y.device, z.device, w.device)
""")
    _, out = _run(script, tmp_path, fake=fake)
    names = ("relu.default", "zeros.default", "empty_like.default")
    assert out.splitlines() == [*(f"aten.{name} cuda:0 True" for name in names), "cuda:0 cuda:0 cuda:0"]


def test_the_most_that_was_allocated_is_nothing_that_did_not_fit(tmp_path: Path) -> None:
    script = tmp_path / "most.py"
    script.write_text("""import torch
x = torch.empty(1 << 28, device="cuda")
try:
    torch.zeros(1 << 33, device="cuda")
except torch.cuda.OutOfMemoryError:
    print(torch.cuda.max_memory_allocated())
""")
    workload, printed = _run(script, tmp_path)
    assert printed == f"{1 << 30}\n"
    assert workload["program"]["device_peak_bytes"] == 1 << 30


@pytest.mark.parametrize("handled", ["", "except RuntimeError as error:\n    raise ValueError from error"])
def test_what_did_not_fit_counts_where_the_script_ends_by_it(handled: str, tmp_path: Path) -> None:
    script = tmp_path / "ends.py"
    script.write_text(f"""import torch
x = torch.empty(1 << 28, device="cuda")
try:
    torch.zeros(1 << 33, device="cuda")
{handled or "finally: pass"}
""")
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(tmp_path), "BREAKEVEN_PRETEND_GPU": json.dumps(L4)}
    command = [sys.executable, "-m", "breakeven._run", str(script)]
    assert subprocess.run(command, env=env, stderr=subprocess.DEVNULL, timeout=240).returncode == 1
    (file,) = tmp_path.glob("*.breakeven.json")
    assert json.loads(file.read_text())["program"]["device_peak_bytes"] == 33 << 30


@pytest.mark.parametrize("fake", [False, True])
def test_what_is_formatted_is_read_as_what_is_printed(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "formatted.py"
    script.write_text("""import torch
row, one = torch.tensor([1.0, 2.0], device="cuda"), torch.tensor(0.5, device="cuda")
print(f"{row}|{one}|{one:.3f}|{{}}|{torch.ones(2)}".format(row))
print(f"{torch.nn.Parameter(row)}")
try:
    f"{row:.3f}"
except TypeError as error:
    print(error)
""")
    workload, out = _run(script, tmp_path, fake=fake)
    assert fake or out.splitlines() == [
        "tensor([1., 2.], device='cuda:0')|0.5|0.500|tensor([1., 2.], device='cuda:0')|tensor([1., 1.])",
        "Parameter containing:",
        "tensor([1., 2.], device='cuda:0', requires_grad=True)",
        "unsupported format string passed to Tensor.__format__",
    ]
    # A row: which numbers there are, whether each is whole, how large they are, each by itself, and all of them.
    printed = [8, *(2 - fake) * [1], 1, 1, 1, 4, 4, 1, 1, 8]
    assert sorted(_copies(workload, "d2h")) == sorted([4, 4, *3 * printed])


def test_classes_of_a_script_print_as_on_a_gpu(tmp_path: Path) -> None:
    script = tmp_path / "subclass.py"
    script.write_text("""import torch
class Mine(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})
x = torch.ones(3, device="cuda")
print(x.as_subclass(Mine), x.cpu().as_subclass(Mine), x.is_cpu, x.cpu().is_cpu, torch.ones(2, device="meta").is_cpu)
""")
    workload, out = _run(script, tmp_path)
    assert out == "Mine([1., 1., 1.], device='cuda:0') Mine([1., 1., 1.]) False True False\n"
    assert _copies(workload, "d2h") == [12, 12, 12]


@pytest.mark.parametrize("fake", [False, True])
def test_what_is_copied_into_tells_of_pinned_memory(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "pinned.py"
    script.write_text("""import torch
host, gpu = torch.empty(1000, pin_memory=True), torch.zeros(1000, device="cuda")
gpu.copy_(host, non_blocking=True)
host.copy_(gpu, non_blocking=True)
gpu.copy_(torch.ones(1000))
""")
    workload, _ = _run(script, tmp_path, fake=fake)
    copies = [entry["op"]["transfer"] for entry in workload["ops"] if "transfer" in entry["op"]]
    told = [(copy["direction"], copy["pinned"], copy["asynchronous"]) for copy in copies]
    assert told == [("h2d", True, True), ("d2h", True, True), ("h2d", False, False)]


@pytest.mark.parametrize("fake", [False, True])
def test_a_function_says_where_what_is_loaded_goes(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "loaded.py"
    script.write_text("""import io, torch
file = io.BytesIO()
torch.save({"host": torch.ones(3), "gpu": torch.ones(2, device="cuda")}, file)
for where in (lambda s, _: s.cuda(), lambda s, _: s.cuda(0), lambda s, _: s, lambda s, _: None):
    file.seek(0)
    loaded = torch.load(file, map_location=where)
    print(loaded["host"].device, loaded["gpu"].device)
""")
    workload, out = _run(script, tmp_path, fake=fake)
    assert out.splitlines() == ["cuda:0 cuda:0", "cuda:0 cuda:0", "cpu cpu", "cpu cuda:0"]
    assert sorted(_copies(workload, "h2d")) == [8, 8, 8, 12, 12]


@pytest.mark.parametrize("fake", [False, True])
def test_a_module_is_loaded_where_that_is_asked(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "module.py"
    script.write_text("""import io, torch
model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)).cuda()
file = io.BytesIO()
torch.save(model, file)
for where in ("cpu", None):
    file.seek(0)
    loaded = torch.load(file, map_location=where, weights_only=False)
    print(loaded[0].weight.device, loaded[1].running_mean.device, loaded is model, model[0].weight.device)
    loaded.cuda()(torch.ones(3, 2, device="cuda")).sum().backward()
    print(loaded[0].weight.grad.device, model[0].weight.grad)
""")
    workload, out = _run(script, tmp_path, fake=fake)
    assert out.splitlines() == ["cpu cpu False cuda:0", "cuda:0 None", "cuda:0 cuda:0 False cuda:0", "cuda:0 None"]
    assert sum(_copies(workload, "d2h")) == 64
    assert sum(_copies(workload, "h2d")) == 3 * 64


@pytest.mark.parametrize("fake", [False, True])
def test_each_of_a_gpus_kernels_for_attention_may_be_asked_for(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "attention.py"
    script.write_text("""import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
q = torch.randn(1, 2, 64, 64, device="cuda", dtype=torch.half)
for one in (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION):
    with sdpa_kernel(one):
        print(torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True).device)
        print(torch.backends.cuda.flash_sdp_enabled())
""")
    workload, out = _run(script, tmp_path, fake=fake)
    assert out.split() == ["cuda:0", "True", "cuda:0", "False", "cuda:0", "False"]
    names = [(entry["name"], entry["device"]) for entry in workload["ops"] for _ in range(entry["count"])]
    assert names == [("aten.randn", "cuda:0")] + 3 * [("aten._scaled_dot_product_flash_attention_for_cpu", "cuda:0")]


@pytest.mark.parametrize("fake", [False, True])
def test_a_kernel_for_attention_takes_what_cudas_does(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "kernels.py"
    script.write_text("""import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
half = torch.randn(1, 2, 64, 64, device="cuda", dtype=torch.half)
mask = torch.zeros(64, 64, device="cuda", dtype=torch.half)
for one in (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION, SDPBackend.MATH):
    for q, words in ((half, {}), (half, {"attn_mask": mask}), (half.float(), {})):
        try:
            with sdpa_kernel(one):
                torch.nn.functional.scaled_dot_product_attention(q, q, q, dropout_p=0.1, **words)
            print("taken", end=" ")
        except RuntimeError as error:
            print(str(error)[:19], end=" ")
    print(torch.backends.cuda.math_sdp_enabled(), torch.backends.cuda.flash_sdp_enabled())
""")
    workload, out = _run(script, tmp_path, fake=fake)
    refused = "No available kernel"
    assert out.splitlines() == [
        f"taken {refused} {refused} True True",
        "taken taken taken True True",
        f"taken taken {refused} True True",
        "taken taken taken True True",
    ]
    names = [entry["name"] for entry in workload["ops"] for _ in range(entry["count"])]
    assert names.count("aten._scaled_dot_product_flash_attention_for_cpu") == 6
    assert names.count("aten.bernoulli_") == 3


@pytest.mark.parametrize("fake", [False, True])
def test_tensors_of_a_scripts_own_classes(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "classes.py"
    script.write_text("""import copy
import torch
class Named(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})
class Scaled(torch.nn.Parameter):
    def __new__(cls, data, scale=1.0):
        self = super().__new__(cls, data)
        self.scale = scale
        return self
x = torch.randn(100, 100, device="cuda")
named, made = x.as_subclass(Named), torch.Tensor._make_subclass(Named, x)
print([(type(one).__name__, one.device.type, one.is_cuda) for one in (named, named @ named + 1, made, named.cpu())])
layer = torch.nn.Module()
layer.weight = Scaled(torch.randn(100, 100), 3.0)
weight = layer.cuda().weight
(x @ weight).sum().backward()
torch.optim.SGD(layer.parameters(), lr=0.1).step()
print(type(weight).__name__, weight.device, weight.scale, isinstance(weight, torch.nn.Parameter), type(weight.grad).__name__)
print(type(copy.deepcopy(layer).weight).__name__, layer.half().weight is weight, weight.dtype, weight.scale)
""")
    workload, out = _run(script, tmp_path, fake=fake)
    assert out.splitlines() == [
        str([("Named", "cuda", True)] * 3 + [("Named", "cpu", False)]),
        "Scaled cuda:0 3.0 True Tensor",
        "Scaled True torch.float16 3.0",
    ]
    assert _copies(workload, "h2d") == [40000]
    products = [e["count"] for e in workload["ops"] if e["name"] == "aten.mm"]
    assert sum(products) == 3


@pytest.mark.parametrize("fake", [False, True])
def test_tensors_are_copied_and_pickled(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "pickled.py"
    script.write_text("""import copy
import pickle
import torch
x = torch.randn(100, 10, device="cuda")
x.label = "x"
same, layer = copy.copy(x), torch.nn.Linear(10, 10).cuda()
print(same.device, same.label, same.data_ptr() == x.data_ptr(), x[1:].data_ptr() - x.data_ptr())
again = pickle.loads(pickle.dumps(x))
print(again.device, again.shape, again.label, again.data_ptr() == x.data_ptr(), type(again).__name__)
loaded = pickle.loads(pickle.dumps(layer))
print(loaded(x).device, loaded.weight.requires_grad, isinstance(loaded.weight, torch.nn.Parameter))
print(pickle.loads(pickle.dumps(torch.arange(3))).tolist())
tied = torch.nn.Linear(10, 10)
tied.weight = layer.weight
print(len({one.untyped_storage().data_ptr() for one in (tied.weight, layer.weight, loaded.weight)}))
small = torch.zeros(3)
small.data = torch.ones(2)
print(small.tolist())
""")
    workload, out = _run(script, tmp_path, fake=fake)
    assert out.splitlines() == [
        "cuda:0 x True 40",
        "cuda:0 torch.Size([100, 10]) x False Tensor",
        "cuda:0 True True",
        "[0, 1, 2]",
        "2",
        "[1.0, 1.0]",
    ]
    assert sorted(_copies(workload, "d2h")) == [40, 400, 4000]
    assert sorted(_copies(workload, "h2d")) == [40, 40, 400, 400, 4000]
    assert any("pickled" in unseen["text"] for unseen in workload["unseen"]) == fake


def test_libraries_are_not_told_that_tensors_have_no_values(tmp_path: Path) -> None:
    script = tmp_path / "asks.py"
    script.write_text("""import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
x = torch.randn(3, device="cuda")
print(isinstance(x, FakeTensor), isinstance(x, getattr(torch, "_subclasses").FakeTensor), type(x).__name__)
with FakeTensorMode():
    print(isinstance(torch.randn(3), FakeTensor))
""")
    assert _run(script, tmp_path, fake=True)[1].splitlines() == ["False False Tensor", "True"]


def _told(workload: Any) -> Any:
    """What was recorded for the device, with how often: ops, copies, waits, by name and line."""
    told: dict[tuple[str, str, int], int] = {}
    for entry in workload["ops"]:
        if entry.get("device"):
            key = entry["name"], json.dumps(entry["op"], sort_keys=True), workload["sites"][entry["site"]]["line"]
            told[key] = told.get(key, 0) + entry["count"]
    return told


def test_a_text_has_its_length_without_values(tmp_path: Path) -> None:
    script = tmp_path / "text.py"
    script.write_text("""import torch
torch.manual_seed(0)
END, LENGTH = 99999, 12
head = torch.nn.Linear(100, 10000).cuda()
states = torch.nn.Embedding(10000, 100).cuda()
for count in (1, 4):
    text = torch.zeros(count, 1, dtype=torch.int64, device="cuda")
    done = torch.zeros(count, dtype=torch.bool, device="cuda")
    going = torch.ones(count, dtype=torch.int64, device="cuda")
    while text.shape[1] < LENGTH:
        token = head(states(text[:, -1])).argmax(-1)
        text = torch.cat([text, token[:, None]], 1)
        done = done | torch.isin(token, torch.tensor([END, END + 1], device="cuda"))
        going = going & ~(token == END)
        if done.all() or (token == END).all() or going.max() == 0:
            break
    print(text.shape[1], (text[:, :3] > 5).sum(1).shape)
experts, taken = torch.randint(4, (5000,), device="cuda"), 0
for expert in range(4):
    taken += bool((experts == expert).any())
print(taken, (experts < 4).sum().item())
steps = 0
while (torch.rand(50, device="cuda") >= 0).all() & ~(torch.full((3,), steps, device="cuda") >= 5).all():
    steps += 1
print(steps)
""")
    (tmp_path / "real").mkdir()
    real, out = _run(script, tmp_path / "real")
    fake, fake_out = _run(script, tmp_path, fake=True)
    assert out == fake_out and out.splitlines()[0].startswith("12 ") and out.splitlines()[-2:] == ["4 5000", "5"]
    assert _told(real) == _told(fake)
    assert any("certain one" in unseen["text"] for unseen in fake["unseen"])


def test_a_network_is_laid_out_anew_without_values(tmp_path: Path) -> None:
    script = tmp_path / "layout.py"
    script.write_text("""import torch
network = torch.nn.Conv2d(16, 16, 3).cuda().to(memory_format=torch.channels_last)
x = torch.randn(2, 16, 8, 8, device="cuda").to(memory_format=torch.channels_last)
with torch.autocast("cuda", torch.float16):
    y = network(x)
y.float().pow(2).sum().backward()
print(network.weight.stride(), network.weight.grad.stride(), torch.cuda.memory_allocated())
""")
    (tmp_path / "real").mkdir()
    real, out = _run(script, tmp_path / "real")
    fake, fake_out = _run(script, tmp_path, fake=True)
    assert out == fake_out and out.startswith("(144, 1, 48, 16) (144, 1, 48, 16) ")
    assert _told(real) == _told(fake)


@pytest.mark.parametrize("fake", [False, True])
def test_a_warning_names_the_scripts_line(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "warns.py"
    script.write_text("""import sys
import warnings
import torch
warnings.showwarning = lambda message, category, file, line, *_: print(file.endswith("warns.py"), line)
x = torch.randn(3, device="cuda")
for _ in range(3):
    torch.tensor(x, device="cuda")
torch.tensor(x)
warnings.simplefilter("error")
try:
    torch.tensor(x, device="cpu")
except UserWarning as warning:
    print(str(warning)[:20])
""")
    _, out = _run(script, tmp_path, fake=fake)
    assert out.splitlines() == ["True 7", "True 8", "To copy construct fr"]


def test_a_gpu_draws_again_what_it_drew(tmp_path: Path) -> None:
    script = tmp_path / "drawn.py"
    script.write_text("""import torch
def again(keep, go_back):
    state = keep()
    first = torch.rand(3, device="cuda")
    go_back(state)
    return torch.equal(first, torch.rand(3, device="cuda"))
cuda = torch.cuda
print(again(lambda: cuda.manual_seed(0), lambda _: cuda.manual_seed(0)))
print(again(cuda.get_rng_state, cuda.set_rng_state), again(cuda.get_rng_state_all, cuda.set_rng_state_all))
print(again(cuda.default_generators[0].get_state, cuda.default_generators[0].set_state))
there = torch.tensor([7] + 15 * [0], dtype=torch.uint8)
print(again(lambda: cuda.set_rng_state(there), lambda _: cuda.set_rng_state(there)))
print(torch.rand(2, device="cuda", generator=cuda.default_generators[0]).device)
def on_host(between):
    torch.manual_seed(1)
    between()
    return torch.rand(2)
expected, drop, x = on_host(lambda: None), torch.nn.functional.dropout, torch.ones(9, device="cuda", requires_grad=True)
between = lambda: torch.rand(2, device="cuda"), lambda: drop(x), lambda: x.detach().normal_(), lambda: cuda.manual_seed(5)
print([torch.equal(expected, on_host(each)) for each in between])
torch.manual_seed(3)
(plain,) = torch.autograd.grad(drop(x).sum(), x)
torch.manual_seed(3)
(saved,) = torch.autograd.grad(torch.utils.checkpoint.checkpoint(drop, x, use_reentrant=False).sum(), x)
print(torch.equal(plain, saved))
""".replace("import torch", "import torch, torch.utils.checkpoint"))
    _, out = _run(script, tmp_path)
    assert out.splitlines() == ["True", "True True", "True", "True", "cuda:0", "[True, True, True, True]", "True"]


@pytest.mark.parametrize("fake", [False, True])
def test_a_device_may_be_a_number(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""import torch
x, own = torch.zeros(3), torch.Generator(device=0)
made = [torch.rand(3, device=0), torch.randn(3, device=0), torch.randint(5, (3,), device=0), torch.randperm(3, device=0),
        torch.rand_like(x, device=0), torch.randn_like(x, device=0), torch.randint_like(x, 5, device=0),
        torch.normal(0.0, 1.0, (3,), device=0), torch.rand(3, device=0, generator=own), torch.ones(3, device=0), x.to(0)]
print({str(one.device) for one in made}, own.device, torch.Generator(0).device, torch.Generator().device)
try:
    torch.Generator(7)
except RuntimeError as error:
    print(error)
""")
    _, out = _run(script, tmp_path, fake=fake)
    assert out.splitlines() == ["{'cuda:0'} cuda:0 cuda:0 cpu", "CUDA error: invalid device ordinal"]


def test_generators_and_gradients_are_where_their_tensors_are(tmp_path: Path) -> None:
    script = tmp_path / "refused.py"
    script.write_text("""import torch
there, here = torch.Generator("cuda"), torch.Generator()
x = torch.zeros(3, device="cuda")
weight = torch.nn.Parameter(torch.ones(3, device="cuda"))
def refused(call):
    try:
        call()
        return False
    except RuntimeError as error:
        return "device" in str(error)
draws = (
    lambda of: x.normal_(generator=of), lambda of: torch.nn.init.normal_(x, generator=of),
    lambda of: torch.multinomial(x + 1, 2, generator=of), lambda of: torch.randn(3, device="cuda", generator=of),
)
print([refused(lambda: draw(here)) for draw in draws], [refused(lambda: draw(there)) for draw in draws])
print(refused(lambda: torch.zeros(3).normal_(generator=there)), refused(lambda: torch.randperm(3, generator=there)))
print(refused(lambda: torch.randperm(3, generator=here)))
print(refused(lambda: setattr(weight, "grad", torch.ones(3))), refused(lambda: setattr(weight, "grad", torch.ones(3).cuda())))
torch.set_default_device("cuda")
print(refused(lambda: torch.randn(3, generator=there)))
""")
    _, out = _run(script, tmp_path)
    assert out.splitlines() == ["[True, True, True, True] [False, False, False, False]", "True True", "False",
        "True False", "False"]


@pytest.mark.parametrize("fake", [False, True])
def test_gradients_go_back_to_where_their_tensors_are(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "halves.py"
    script.write_text("""import torch
from torch import nn
first, second, third = nn.Embedding(10, 4), nn.Linear(4, 2).cuda(), nn.Linear(2, 1)
networks = nn.ModuleList([first, second, third])
optimizer = torch.optim.SGD(networks.parameters(), 0.1)
for _ in range(40):
    optimizer.zero_grad()
    third(second(first(torch.arange(5)).to("cuda")).cpu()).sum().backward()
    optimizer.step()
print([parameter.grad.device.type for parameter in networks.parameters()])
x, told = torch.ones(3, requires_grad=True), []
y = x.cuda()
x.register_hook(lambda gradient: told.append(gradient.device.type))
y.register_hook(lambda gradient: told.append(gradient.device.type))
(y * 2).sum().backward()
torch.zeros(3, device="cuda").copy_(x).sum().backward()
print(told, x.grad.device)
""")
    workload, out = _run(script, tmp_path, fake=fake)
    assert out.splitlines() == ["['cpu', 'cuda', 'cuda', 'cpu', 'cpu']", "['cuda', 'cpu', 'cpu'] cpu"]
    hidden, result, three = 5 * 4 * 4, 5 * 2 * 4, 3 * 4
    assert sorted(_copies(workload, "h2d")) == sorted([4 * 2 * 4, 2 * 4, three, three] + 40 * [hidden, result])
    assert sorted(_copies(workload, "d2h")) == sorted([three, three] + 40 * [hidden, result])
    # Each half's steps back are where it is.
    embedding = [e for e in workload["ops"] if e["name"].startswith("aten.embedding")]
    assert {e.get("device") for e in embedding} == {None} and sum(e["count"] for e in embedding) == 80


def test_rows_of_unlike_length_are_copied_as_they_are_kept(tmp_path: Path) -> None:
    script = tmp_path / "rows.py"
    script.write_text("""import torch
rows = torch.nested.nested_tensor([torch.ones(2, 8), torch.ones(4, 8)], layout=torch.jagged, requires_grad=True)
there = rows.to("cuda")
print(there.device, there.offsets().device, rows.offsets().device, there.shape == rows.shape)
(torch.nn.Linear(8, 8).cuda()(there) * 2).values().sum().backward()
print(rows.grad.values().device)
heads = there.detach().unflatten(-1, (2, 4)).transpose(1, 2)
print(torch.nn.functional.scaled_dot_product_attention(heads, heads, heads).device)
print(torch.nested.nested_tensor([torch.ones(2, 8), torch.ones(3, 8)], requires_grad=True).cuda().device)
""")
    workload, out = _run(script, tmp_path)
    assert out.splitlines() == ["cuda:0 cuda:0 cpu True", "cpu", "cuda:0", "cuda:0"]
    # Six rows of eight, where the rows begin, the layer's weights, and five rows of eight.
    assert _copies(workload, "h2d") == [6 * 8 * 4, 3 * 8, 8 * 8 * 4, 8 * 4, 5 * 8 * 4]


def test_torchscript_on_a_gpu(tmp_path: Path) -> None:
    script = tmp_path / "compiled.py"
    script.write_text("""import torch
@torch.jit.script
def shifted(x):
    # type: (Tensor) -> Tensor
    return x + torch.ones(3, device=x.device)
print(shifted(torch.ones(3, device="cuda")))
@torch.jit.script
def asks(x):
    # type: (Tensor) -> bool
    return x.is_cuda
asks(torch.ones(3, device="cuda"))
torch.jit.script(torch.nn.Linear(3, 3).cuda()).save("linear.pt")
print(torch.jit.load("linear.pt", map_location="cuda")(torch.ones(3, device="cuda")).device)
""".replace('"linear.pt"', repr(str(tmp_path / "linear.pt"))))
    workload, out = _run(script, tmp_path)
    assert out.splitlines() == ["tensor([2., 2., 2.], device='cuda:0')", "cuda:0"]
    # To print three numbers: which of them count, nine questions of how large they are, each of them, all of them.
    printed = [8] + 9 * [1] + 3 * [4] + [12]
    assert (_copies(workload, "h2d"), _copies(workload, "d2h")) == ([36, 12, 36, 12], [*printed, 36, 12])
    assert [unseen["count"] for unseen in workload["unseen"] if unseen["reason"] == "torch-jit"] == [1]


def test_what_scripts_ask_of_the_driver(tmp_path: Path) -> None:
    script = tmp_path / "asks.py"
    script.write_text("""import torch
x = torch.ones(4, device="cuda")
told = x.__cuda_array_interface__
print(told["typestr"], told["shape"], told["data"] == (x.data_ptr(), False))
cuda = torch.cuda
print(cuda.memory_allocated(device=0), cuda.max_memory_reserved(device="cuda"), cuda.mem_get_info(device=0)[1] >> 30)
plans = torch.backends.cuda.cufft_plan_cache
plans.max_size = 10
plans.clear()
print(plans.max_size, plans[0].size)
cuda.set_per_process_memory_fraction(0.25)
print(cuda.get_per_process_memory_fraction())
try:
    torch.empty(7 << 30, dtype=torch.uint8, device="cuda")
except cuda.OutOfMemoryError:
    print("does not fit")
try:
    cuda.set_per_process_memory_fraction(2.0)
except ValueError:
    print("no more than all")
""")
    _, out = _run(script, tmp_path)
    assert out.splitlines() == ["<f4 (4,) True", "16 16 24", "10 0", "0.25", "does not fit", "no more than all"]


@pytest.mark.parametrize("fake", [False, True])
def test_the_lengths_of_sequences_cross_for_their_loss(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "sequences.py"
    script.write_text("""import torch
log = torch.randn(10, 2, 5, device="cuda").log_softmax(-1).requires_grad_()
loss = torch.nn.functional.ctc_loss
lengths = torch.full((2,), 10), torch.full((2,), 3)
loss(log, torch.ones(2, 4, dtype=torch.int32), *lengths, reduction="sum").backward()
there = [length.cuda() for length in lengths]
labels = torch.ones(2, 4, dtype=torch.long, device="cuda")
for _ in range(30):
    loss(log, labels, *there).backward()
""")
    workload, _ = _run(script, tmp_path, fake=fake)
    each, mean, labels = 2 * 8, 2 * 4, 2 * 4 * 8
    assert sorted(_copies(workload, "h2d")) == sorted([labels] + 6 * [each] + 2 * [each] + 30 * (6 * [each] + [mean]))
    assert _copies(workload, "d2h") == 30 * 2 * [each]


@pytest.mark.parametrize("fake", [False, True])
def test_what_is_copied_after_the_last_step_is_told(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "offloaded.py"
    script.write_text("""import copy
import torch
network = torch.nn.Linear(16, 4).cuda()
on_host = copy.deepcopy(network).cpu()
optimizer = torch.optim.Adam(on_host.parameters())
for _ in range(40):
    network.zero_grad()
    network(torch.randn(8, 16, device="cuda")).sum().backward()
    for there, here in zip(network.parameters(), on_host.parameters()):
        here.grad = there.grad.cpu()
    optimizer.step()
    with torch.no_grad():
        for there, here in zip(network.parameters(), on_host.parameters()):
            there.copy_(here)
with torch.no_grad():
    torch._foreach_copy_(list(on_host.parameters()), list(network.parameters()))
""")
    workload, _ = _run(script, tmp_path, fake=fake)
    assert sorted(_copies(workload, "h2d")) == sorted(41 * [16 * 4 * 4, 4 * 4])
    assert sorted(_copies(workload, "d2h")) == sorted(42 * [16 * 4 * 4, 4 * 4])


@pytest.mark.parametrize("fake", [False, True])
def test_steps_made_while_gradients_come_are_counted_once(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "hooked.py"
    script.write_text("""import torch
network = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8)).cuda()
optimizers = {weight: torch.optim.SGD([weight], 0.1) for weight in network.parameters()}
def step(weight):
    optimizers[weight].step()
    optimizers[weight].zero_grad()
for weight in network.parameters():
    weight.register_post_accumulate_grad_hook(step)
x = torch.randn(4, 8)
for _ in range(60):
    network(x.cuda()).sum().backward()
for _ in range(30):
    torch.ones(16).cuda()
""")
    workload, _ = _run(script, tmp_path, fake=fake)
    assert sorted(_copies(workload, "h2d")) == sorted([256, 32, 256, 32] + 60 * [128] + 30 * [64])
    assert sum(e["count"] for e in workload["ops"] if e["name"] == "aten.addmm") == 120


@pytest.mark.parametrize("fake", [False, True])
def test_what_is_kept_on_the_host_crosses_in_each_step(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "kept.py"
    script.write_text("""import torch
weight = torch.randn(8, device="cuda", requires_grad=True)
optimizer = torch.optim.SGD([weight], 0.1)
x, total = torch.randn(8, device="cuda"), torch.zeros(())
for _ in range(60):
    with torch.autograd.graph.save_on_cpu():
        y = (x * weight).sin().sum()
    y.backward()
    optimizer.step()
    optimizer.zero_grad()
    total = total + torch.tensor(1.0)
    y.detach().clone().to("cuda")
""")
    workload, _ = _run(script, tmp_path, fake=fake)
    # What the product and the sine need for their gradients.
    assert _copies(workload, "d2h") == _copies(workload, "h2d") == 60 * 2 * [32]


def test_sparse_tensors_have_as_many_values_without_values(tmp_path: Path) -> None:
    script = tmp_path / "sparse.py"
    script.write_text("""import torch
matrix = torch.sparse_coo_tensor(torch.randint(0, 50, (2, 200)), torch.ones(200), (50, 50)).to("cuda")
print(matrix._nnz(), matrix._indices().shape, matrix.is_coalesced())
layer = torch.nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(layer.parameters(), 0.1)
x = torch.randn(50, 8, device="cuda")
for _ in range(30):
    optimizer.zero_grad()
    torch.sparse.mm(matrix.coalesce(), layer(x)).sum().backward()
    optimizer.step()
print((matrix * 2).cpu()._nnz())
""")
    (tmp_path / "real").mkdir()
    real, out = _run(script, tmp_path / "real")
    fake, fake_out = _run(script, tmp_path, fake=True)
    assert out == fake_out and out.splitlines()[0] == "200 torch.Size([2, 200]) False"
    assert _copies(real, "h2d") == _copies(fake, "h2d") == [2 * 200 * 8, 200 * 4, 8 * 8 * 4, 8 * 4]
    assert _copies(real, "d2h") == _copies(fake, "d2h")
    assert any("sparse.py:9" in unseen["text"] and "as many as there can be" in unseen["text"]
        for unseen in fake["unseen"])


@pytest.mark.parametrize("pretend", [False, True])
def test_what_workers_of_a_loader_send_is_there_without_values(pretend: bool, tmp_path: Path) -> None:
    script = tmp_path / "workers.py"
    script.write_text("""import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __len__(self):
        return 32
    def __getitem__(self, at):
        return np.full(4000, at, dtype=np.float32), at
device = "cuda" if torch.cuda.is_available() else "cpu"
net = torch.nn.Linear(4000, 3).to(device)
for x, y in DataLoader(Rows(), batch_size=16, num_workers=2):
    loss = net(x.to(device)).sum()
    loss.backward()
    print(tuple(x.shape), y.tolist()[:3])
""")
    workload, out = _run(script, tmp_path, fake=True, pretend=pretend)
    assert out == "(16, 4000) [0, 1, 2]\n(16, 4000) [16, 17, 18]\n"
    products = [entry for entry in workload["ops"] if entry["name"] == "aten.addmm"]
    assert [(entry["op"]["matmul"]["m"], entry["count"]) for entry in products] == [(16, 2)]


def test_the_peak_of_the_run_is_none_of_the_scripts_to_forget(tmp_path: Path) -> None:
    script = tmp_path / "peak.py"
    script.write_text("""import torch
x = torch.ones(3 << 20, device="cuda")
del x
torch.cuda.reset_peak_memory_stats()
x = torch.ones(1 << 20, device="cuda")
print(torch.cuda.max_memory_allocated())
""")
    workload, out = _run(script, tmp_path)
    assert (int(out), workload["program"]["device_peak_bytes"]) == (4 << 20, 12 << 20)


FORKS = """
import os, sys, torch
def child(what):
    sys.stdout.flush()
    if (pid := os.fork()) == 0:
        try:
            print(what(), flush=True)
        except RuntimeError as error:
            print(type(error).__name__, str(error)[:36], flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
print(torch.cuda.is_initialized(), torch.cuda.device_count())
child(lambda: (torch.ones(3, device="cuda").sum().item(), torch.cuda.is_initialized()))
if sys.argv[1:] == ["asked"]:
    print(torch.cuda.is_available())
else:
    there = torch.ones(3).cuda()
child(lambda: torch.ones(3, device="cuda"))
child(lambda: torch.ones(3).cuda())
child(lambda: torch.cuda.get_device_name())
child(lambda: (torch.cuda.is_initialized(), torch.cuda.is_available(), (torch.ones(2) * 3).tolist()))
if sys.argv[1:] == []:
    child(lambda: there.device)
    child(lambda: there + 1)
    child(lambda: there.cpu())
    print(there.sum().item())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_cuda_does_not_live_on_in_a_forked_process_once_it_has_begun(tmp_path: Path) -> None:
    script = tmp_path / "forks.py"
    script.write_text(FORKS)
    first = ["False 1", "(3.0, True)"]
    lost = 3 * ["RuntimeError Cannot re-initialize CUDA in forked "] + ["(False, True, [3.0, 3.0])"]
    _, out = _run(script, tmp_path)
    refused = 2 * ["AcceleratorError CUDA error: initialization error"]
    assert out.splitlines() == [*first, *lost, "cuda:0", *refused, "3.0"]
    _, out = _run(script, tmp_path, "asked")
    assert out.splitlines() == [*first, "True", *lost]
    folder = tmp_path / "fake"
    folder.mkdir()
    _, out = _run(script, folder, "asked", fake=True)
    assert out.splitlines() == [*first, "True", *lost]
    notes = [note["text"] for file in folder.glob("*.json") if file.stat().st_size
        for note in json.loads(file.read_text())["unseen"]]
    assert sum("forked after CUDA had begun" in note for note in notes) == len(lost)


SHARED = """
import torch, torch.nn as nn, torch.multiprocessing as mp
def train(net, there, back, done):
    there = there.get()
    net(torch.ones(4, 5, device="cuda")).sum().backward()
    torch.optim.SGD(net.parameters(), 0.01).step()
    own = torch.cuda.memory_allocated()
    print(net.weight.device, isinstance(net.weight, nn.Parameter), there.device, own < 10000, flush=True)
    back.put(there @ there)
    back.put(there.cpu())
    done.wait()
    try:
        mp.reductions.reduce_tensor(there)
    except RuntimeError as error:
        print(str(error)[:53], flush=True)
if __name__ == "__main__":
    ctx = mp.get_context("spawn")
    net = nn.Linear(5, 5).cuda()
    nn.init.ones_(net.weight)
    net.share_memory()
    there, back, done = ctx.Queue(), ctx.Queue(), ctx.Event()
    child = ctx.Process(target=train, args=(net, there, back, done))
    child.start()
    there.put(torch.ones(50, 50, device="cuda"))
    product, on_host = back.get(), back.get()
    weight = round(net.weight[0, 0].item(), 2)
    print(product.device, product.sum().item(), on_host.device, weight, net.weight.is_shared())
    done.set()
    child.join()
    print(child.exitcode)
"""


def test_tensors_handed_to_another_process_are_on_the_gpu_there(tmp_path: Path) -> None:
    script = tmp_path / "shared.py"
    script.write_text(SHARED)
    _, out = _run(script, tmp_path)
    refused = "Attempted to send CUDA tensor received from another p"
    assert out.splitlines() == ["cuda:0 True cuda:0 True", "cuda:0 125000.0 cpu 0.96 True", refused, "0"]
    _, out = _run(script, tmp_path, fake=True)
    assert [line for line in out.splitlines() if "cuda:0" in line or line == "0"] == [
        "cuda:0 True cuda:0 False", "cuda:0 125000.0 cpu 1.0 True", "0"
    ]  # fmt: skip


WARNING = """import sys, warnings
import numpy as np
import torch
from torch import nn
device = "cuda" if torch.cuda.is_available() else "cpu"
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2).eval().to(device)
padding = torch.zeros(3, 5, dtype=torch.bool, device=device)
padding[1, 3:] = True
with torch.no_grad():
    encoder(torch.ones(3, 5, 16, device=device), src_key_padding_mask=padding)
fixed = np.arange(4.0)
fixed.flags.writeable = False
torch.from_numpy(fixed)
torch.tensor([np.ones(3), np.ones(3)], device=device)
for _ in range(2):
    torch.tensor(torch.ones(3), device=device)
torch.tensor(torch.ones(3), device=device)
torch.ones(3, dtype=torch.complex64).to(device).to(torch.float32)
torch.range(0, 3, device=device)
warnings.filterwarnings("ignore", module="__main__")
torch.tensor(torch.ones(3), device=device)
warnings.filterwarnings("error", module="__main__")
try:
    torch.tensor(torch.ones(3), device=device)
except UserWarning as warning:
    print(str(warning)[:36])
warnings.resetwarnings()
with warnings.catch_warnings(record=True) as found:
    torch.tensor(torch.ones(3), device=device)
print(found[0].filename == __file__, found[0].lineno, file=sys.stderr)
"""


def test_warnings_name_the_line_that_they_name_without_us(tmp_path: Path) -> None:
    script = tmp_path / "warning.py"
    script.write_text(WARNING)
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(tmp_path), "BREAKEVEN_PRETEND_GPU": json.dumps(L4)}
    bare, pretended = (
        subprocess.run([sys.executable, *how, str(script)], env=env, capture_output=True, timeout=240, text=True)
        for how in ([], ["-m", "breakeven._run"])
    )
    assert (bare.returncode, bare.stdout) == (0, "To copy construct from a tensor, it \n")
    assert [bare.stderr.count(words) for words in ("To copy", "nested tensors is", "not writable", ".range is")] == [2,
        1, 1, 1]
    assert (pretended.returncode, pretended.stdout, pretended.stderr) == (0, bare.stdout, bare.stderr)


def test_nested_tensors_of_the_host_are_copied_at_once(tmp_path: Path) -> None:
    script = tmp_path / "nested.py"
    script.write_text(
        "import torch\nrows = [torch.ones(2), torch.ones(3)]\nnested = torch.nested.as_nested_tensor(rows, "
        "device='cuda')\n"
        "print(nested.device, nested.is_cuda)\n"
    )
    workload, out = _run(script, tmp_path)
    assert (out, _copies(workload, "h2d")) == ("cuda:0 True\n", [20])
