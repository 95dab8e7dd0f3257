"""Steps that are counted without being watched, and those that are not like the others."""

from __future__ import annotations

import collections
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is not installed: its recorder is not tested", allow_module_level=True)

PROGRAMS = Path(__file__).parent / "programs" / "pytorch"


L4 = {"name": "NVIDIA L4", "memory": 24 << 30, "capability": "8.9", "units": 58, "cache": 48 << 20}


ONE_THREAD = {"OMP_NUM_THREADS": "1"}


def _run(
    script: Path, folder: Path, *arguments: str, gpu: bool = False, fake: bool = False, environment: dict[str,
    str] | None = None
) -> list[dict[str, Any]]:
    """What is recorded of a script, on an imitated GPU, without values: of each process, the first one's first."""
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(folder)} | (environment or {})
    if gpu:
        env["BREAKEVEN_PRETEND_GPU"] = json.dumps(L4)
    if fake:
        env["BREAKEVEN_FAKE"] = "1"
    subprocess.run([sys.executable, "-m", "breakeven._run", script, *arguments], env=env, check=True, timeout=240)
    files = sorted(folder.glob("*.breakeven.json"), key=lambda file: int(file.name.partition(".")[0]))
    return [json.loads(file.read_text()) for file in files]


def _recorded(what: str, folder: Path, program: str = "torch_steps.py") -> dict[str, Any]:
    [workload] = _run(PROGRAMS / program, folder, what)
    return workload


def _products(workload: dict[str, Any], rows: int) -> int:
    """How often the first layer was applied to so many rows."""
    first = {"m": rows, "n": 8, "k": 8, "batch": 1, "bias": False}
    return sum(e["count"] for e in workload["ops"] if isinstance(e["op"], dict) and e["op"].get("matmul") == first)


def test_equal_steps_are_counted(tmp_path: Path) -> None:
    workload = _recorded("nothing", tmp_path)
    assert _products(workload, 5) == 300
    assert 5 < workload["program"]["sampling"] <= 300
    assert len(json.dumps(workload["order"])) < 2000


def test_a_changed_shape_is_seen(tmp_path: Path) -> None:
    workload = _recorded("shape", tmp_path)
    assert _products(workload, 7) == 1
    assert _products(workload, 5) == 299


@pytest.mark.parametrize("what", ["branch", "graph", "longer", "waits"])
def test_a_step_that_does_more_is_noticed(what: str, tmp_path: Path) -> None:
    workload = _recorded(what, tmp_path)
    noticed = [u for u in workload["unseen"] if u["reason"] == "step-differs"]
    # The other layer is a product of the same size, and so is the gradient that now goes through the first.
    watched = what == "branch" and _products(workload, 5) == 302
    assert noticed or watched
    assert 300 <= _products(workload, 5) <= 302


def test_a_step_without_modules_is_known_by_the_shapes_of_its_gradient(tmp_path: Path) -> None:
    workload = _recorded("functions", tmp_path)
    # The changed step itself is known when its gradient begins.
    assert (_products(workload, 5), _products(workload, 7)) in [(150, 149), (150, 150)]
    assert "step-differs" in [note["reason"] for note in workload["unseen"]]
    assert workload["program"]["sampling"] > 5


def test_what_a_step_did_before_it_called_a_module_once_more_is_told(tmp_path: Path) -> None:
    workload = _recorded("again", tmp_path)
    assert _products(workload, 5) in (300, 301)
    assert [note["reason"] for note in workload["unseen"] if not _is_long(note)] == ["step-differs"]


def test_what_comes_after_a_loop_is_seen(tmp_path: Path) -> None:
    workload = _recorded("tail", tmp_path)
    assert _products(workload, 5) == 300
    square = {"m": 300, "n": 300, "k": 300, "batch": 1, "bias": False}
    seen = sum(e["count"] for e in workload["ops"] if isinstance(e["op"], dict) and e["op"].get("matmul") == square)
    # That the loop is over shows a few milliseconds after its last step.
    assert 100 <= seen <= 400
    assert seen == 400 or "step-differs" in {u["reason"] for u in workload["unseen"]}


def test_an_evaluation_in_between_is_seen(tmp_path: Path) -> None:
    workload = _recorded("evaluation", tmp_path)
    assert _products(workload, 50) == 1
    assert _products(workload, 5) == 300


@pytest.mark.parametrize("where", ["before", "after"])
def test_evaluations_now_and_then_leave_the_steps_unwatched(where: str, tmp_path: Path) -> None:
    workload = _recorded(f"evaluations {where}", tmp_path)
    assert _products(workload, 50) == 3 * 10
    assert _products(workload, 5) == 300
    assert workload["program"]["sampling"] > 5
    assert {unseen["reason"] for unseen in workload["unseen"]} <= {"step-differs"}


@pytest.mark.timed
def test_numpy_in_a_loader_is_loading_in_every_step(tmp_path: Path) -> None:
    workload = _recorded("alone", tmp_path, "torch_loader.py")
    assert workload["program"]["sampling"] > 1, "steps went unwatched"
    roots = {e.get("phase"): e["count"] for e in workload["ops"] if e["name"] == "numpy.sqrt"}
    assert roots == {None: 5 * 10, "data": 2 * 160 * 10}
    # What the loader takes is no time of the step's as well: the whole loop took no longer than it did.
    began, ended = (marker["at_ns"] for marker in workload["markers"])
    of_loop = [e for e in workload["ops"] if e["count"] >= 80]
    assert sum(e["cpu_ns"] + e["gap_ns"] for e in of_loop) <= ended - began
    assert sum(e["cpu_ns"] + e["gap_ns"] for e in of_loop if e.get("phase") == "data") > 0.3 * (ended - began)


def test_what_a_step_puts_on_its_device_is_counted_each_time(tmp_path: Path) -> None:
    workload = _recorded("", tmp_path, "torch_again.py")
    copies: dict[int, int] = {}
    for entry in workload["ops"]:
        if entry["name"] == "torch.Tensor.to":
            size = entry["op"]["transfer"]["bytes"]
            copies[size] = copies.get(size, 0) + entry["count"]
    # The layer's weights and biases; 299 batches of 5 rows and one of 7; the mask, for which each step asks the host.
    assert copies == {8 * 3 * 4: 1, 3 * 4: 1 + 300, 5 * 8 * 4: 299, 7 * 8 * 4: 1}
    assert sum(entry["host_input_bytes"] for entry in workload["ops"]) == 0
    assert workload["program"]["sampling"] > 10


AFTER = (
    "module while comprehension map generator epochs short_epochs validation trainer noisy_trainer branch sometimes "
    "twice "
    "raises inference"
)


def _after(what: str, mode: str, folder: Path) -> dict[str, Any]:
    [workload] = _run(PROGRAMS / "torch_after.py", folder, what, gpu="gpu" in mode, fake="fake" in mode)
    return workload


def _count(workload: dict[str, Any], m: int, n: int, k: int) -> int:
    products = (e for e in workload["ops"] if isinstance(e["op"], dict) and "matmul" in e["op"])
    return sum(e["count"] for e in products if [e["op"]["matmul"][size] for size in "mnk"] == [m, n, k])


def _is_long(note: dict[str, Any]) -> bool:
    """Whether a step is told to have taken longer, as it also may on a machine that does much besides."""
    return "took longer" in note["text"]


def _steps(workload: dict[str, Any]) -> int:
    """Of a net of two layers: how often the second was applied."""
    return _count(workload, 5, 1, 8)


@pytest.mark.parametrize("what", AFTER.split())
@pytest.mark.parametrize("mode", ["gpu", "fake"])
def test_what_no_step_does_is_seen(what: str, mode: str, tmp_path: Path) -> None:
    workload = _after(what, mode, tmp_path)
    assert (_steps(workload), _count(workload, 96, 96, 96)) == (300, 20)
    assert _count(workload, 50, 8, 8) == (10 if what == "validation" else 0)
    assert workload["program"]["sampling"] > 5, "steps went unwatched"
    assert not [u for u in workload["unseen"] if u["reason"] == "step-differs" and not _is_long(u)]


@pytest.mark.parametrize("what", ["module", "generator", "epochs", "sometimes"])
def test_with_values_at_most_its_first_op_is_missed_each_time(what: str, tmp_path: Path) -> None:
    workload = _after(what, "values", tmp_path)
    assert _steps(workload) == 300
    missed = [u for u in workload["unseen"] if u["reason"] == "step-differs" and "first op" in u["text"]]
    assert all(u["ns"] > 0 for u in missed)
    assert _count(workload, 96, 96, 96) + sum(u["count"] for u in missed) == 20


def test_with_values_a_branch_that_each_step_takes_from_then_on_is_noticed(tmp_path: Path) -> None:
    workload = _after("branch", "values", tmp_path)
    assert _steps(workload) == 300
    missed = [u for u in workload["unseen"] if u["reason"] == "step-differs" and "first op" in u["text"]]
    # Where a round is watched again meanwhile it becomes part of the steps: what follows the last one is not counted.
    assert _count(workload, 96, 96, 96) + sum(u["count"] for u in missed) in (19, 20)


def test_a_step_that_is_compiled_as_a_whole(tmp_path: Path) -> None:
    script = tmp_path / "compiled.py"
    script.write_text("""import torch
net = torch.nn.Linear(8, 2)
optimizer = torch.optim.Adam(net.parameters())
@torch.compile(backend="eager")
def step(x):
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()
for _ in range(8):
    step(torch.ones(4, 8))
print("done")
""")
    env = os.environ | {"BREAKEVEN_RECORD_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "breakeven._run", str(script)]
    done = subprocess.run(command, env=env, capture_output=True, timeout=240, text=True)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    (file,) = tmp_path.glob("*.breakeven.json")
    calls = {entry["name"]: entry["count"] for entry in json.loads(file.read_text())["ops"]}
    assert calls["aten.addmm"] == calls["aten._foreach_addcdiv_"] == 8


def test_what_the_recorder_takes_between_ops_is_no_python_code(tmp_path: Path) -> None:
    script = tmp_path / "slow.py"
    script.write_text("""import torch
from breakeven import _native
from breakeven.torch.no_gpu import placement
from breakeven.torch.steps import sampler
from breakeven.torch.watch import modules
def slow(module, name):
    plain = getattr(module, name)
    def slowed(*args):
        until = _native.clock_ns() + 30_000_000
        while _native.clock_ns() < until:
            pass
        return plain(*args)
    setattr(module, name, slowed)
sampler._repeats = lambda: 0
slow(placement, "know_placed")
slow(sampler, "begins")
slow(sampler, "_end")
slow(modules, "_know_gradients")
net, batches = torch.nn.Linear(4, 2), torch.ones(6, 3, 4)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for i in range(6):
    x = batches[i].to("cpu")
    optimizer.zero_grad()
    net(x).sum().backward()
    optimizer.step()
""")
    [workload] = _run(script, tmp_path, environment=ONE_THREAD)
    own, program = 6 * 4 * 30_000_000, workload["program"]
    assert sum(e["gap_ns"] for e in workload["ops"]) < own / 8
    # What is imported meanwhile is start-up.
    assert program["events"] * program["hook_ns"] > 0.95 * own


def test_what_is_left_of_a_slow_step_is_counted_once(tmp_path: Path) -> None:
    workload = _recorded("", tmp_path, "torch_slow_in_step.py")
    counts = {entry["name"]: entry["count"] for entry in workload["ops"] if entry["count"] > 1}
    assert counts == dict.fromkeys(("aten.t", "aten.addmm", "aten.mul", "aten.mean", "aten.add"), 600)
    assert any(entry == [600, entry[1]] for entry in workload["order"] if isinstance(entry, list))


def _changed(what: str, mode: str, folder: Path, watched: bool = False) -> dict[str, Any]:
    script, record = PROGRAMS / "torch_changes.py", folder / f"record{watched}"
    record.mkdir()
    if watched:
        first = "import breakeven.torch.steps.sampler as _q; _q._repeats = lambda: 0; "
        text, script = script.read_text(), folder / "watched.py"
        script.write_text(first + text)
    [workload] = _run(script, record, what, gpu=mode != "plain", fake=mode == "fake", environment=ONE_THREAD)
    return workload


@pytest.mark.parametrize("mode", ["gpu", "fake", "plain"])
@pytest.mark.parametrize("what", ["keywords", "dictionary", "list", "named tuple", "object"])
def test_a_changed_shape_is_seen_whatever_holds_it(what: str, mode: str, tmp_path: Path) -> None:
    workload = _changed(what, mode, tmp_path)
    # Forward, and the weight's gradient.
    assert (_products(workload, 5), _products(workload, 7)) == (60, 60)
    assert workload["program"]["sampling"] > 3


@pytest.mark.parametrize("mode", ["gpu", "plain"])
@pytest.mark.parametrize("what", ["attributes", "optimizer", "decay", "group", "frozen", "loop"])
def test_what_each_step_does_from_then_on_is_noticed(what: str, mode: str, tmp_path: Path) -> None:
    workload, watched = _changed(what, mode, tmp_path), _changed(what, mode, tmp_path, True)
    noticed = [u["count"] for u in workload["unseen"] if u["reason"] == "step-differs" and not _is_long(u)]
    assert noticed == [1] and workload["program"]["sampling"] > 3
    ran, all_ran = (collections.Counter[str](), collections.Counter[str]())
    for each, counts in ((workload, ran), (watched, all_ran)):
        for entry in each["ops"]:
            counts[entry["name"]] += entry["count"]
    # What two steps do more or less: the first that were different.
    assert {name: (ran[name], n) for name, n in all_ran.items() if n > 50 and abs(ran[name] - n) > 30} == {}


ONE_OF_TWO = """
import sys, torch
net = torch.nn.Linear(4, 2).to("DEVICE")
optimizer = torch.optim.SGD(net.parameters(), 1e-3)
seen, kept = torch.zeros(64, 4, device="DEVICE"), torch.zeros(64, device="DEVICE")
for branch in "1111" + "0111011101" * 6:
    if branch == "1":
        with torch.no_grad():
            chosen = net(seen[:1]).argmax(1).item()
    drawn = torch.randint(0, 64, (32,), device="DEVICE")
    loss = net(seen[drawn]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    kept[drawn] = loss.detach().abs() + 1e-3
"""


@pytest.mark.parametrize("mode", ["gpu", "fake", "plain"])
def test_steps_that_leave_out_a_branch_have_all_the_rest(mode: str, tmp_path: Path) -> None:
    script = tmp_path / "one_of_two.py"
    script.write_text(ONE_OF_TWO.replace("DEVICE", "cpu" if mode == "plain" else "cuda"))
    [workload] = _run(script, tmp_path, gpu=mode != "plain", fake=mode == "fake")
    counts = collections.Counter[str]()
    for entry in workload["ops"]:
        counts[entry["name"]] += entry["count"]
    ran = {name: counts[f"aten.{name}"] for name in ("argmax", "randint", "addmm", "abs", "index_put_")}
    assert ran == {"argmax": 46, "randint": 64, "addmm": 110, "abs": 64, "index_put_": 64}
    assert "step-differs" in {u["reason"] for u in workload["unseen"]}


TERM = """
import torch
net, weight = torch.nn.Linear(64, 64, device="cuda"), torch.randn(64, 64, device="cuda", requires_grad=True)
optimizer, x = torch.optim.SGD([*net.parameters(), weight], 0.01), torch.randn(32, 64, device="cuda")
for i in range(200):
    y = net(x)
    loss = y.pow(2).mean()
    if i % 10 == 0:
        loss = loss + (y @ weight).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("fake", [False, True])
def test_a_term_now_and_then_has_its_gradient(fake: bool, tmp_path: Path) -> None:
    script = tmp_path / "term.py"
    script.write_text(TERM)
    (tmp_path / "recorded").mkdir()
    [workload] = _run(script, tmp_path / "recorded", gpu=True, fake=fake)
    assert workload["program"]["sampling"] > 1
    products = sum(e["count"] for e in workload["ops"] if isinstance(e["op"], dict) and "matmul" in e["op"])
    # Forward and by the weight in each step; with the term also three of its own, and by what the network gave.
    assert products == pytest.approx(200 * 2 + 20 * 3, abs=2)


def test_where_a_loader_draws_its_order_no_step_differs(tmp_path: Path) -> None:
    """With workers that is some batches before the end of an epoch, in the midst of a step."""
    script = tmp_path / "epochs.py"
    script.write_text("""import torch
from torch.utils.data import DataLoader, TensorDataset
net = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
data = TensorDataset(torch.randn(160, 8))
loader = DataLoader(data, batch_size=4, shuffle=True, num_workers=2, persistent_workers=True)
for _ in range(4):
    for batch, in loader:
        optimizer.zero_grad()
        net(batch).square().mean().backward()
        optimizer.step()
""")
    workload = _run(script, tmp_path, environment=ONE_THREAD)[0]
    assert not [u for u in workload["unseen"] if "did something else" in u["text"]]
    assert workload["program"]["sampling"] > 3


@pytest.mark.parametrize("asks", ["", "loss.item()"])
def test_what_a_loaders_workers_take_to_begin_and_end_is_loading(asks: str, tmp_path: Path) -> None:
    script = tmp_path / "workers.py"
    script.write_text(f"""import torch
from torch.utils.data import DataLoader, TensorDataset
net = torch.nn.Linear(8, 2).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
data = TensorDataset(torch.randn(160, 8))
for _ in range(6):
    for batch, in DataLoader(data, batch_size=4, shuffle=True, num_workers=2, pin_memory=True):
        loss = net(batch.cuda()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    {asks}
""")
    workload = _run(script, tmp_path, gpu=True, environment=ONE_THREAD)[0]
    [taken] = [e for e in workload["ops"] if e["name"] == "torch.utils.data.DataLoader.__next__"]
    assert taken["count"] == 240
    assert not [u for u in workload["unseen"] if "came after the last step" in u["text"]]
    assert sum(u["ns"] for u in workload["unseen"]) < (taken["cpu_ns"] + taken["gap_ns"]) / 2


@pytest.mark.parametrize("gpu", [False, True])
@pytest.mark.parametrize("rounds", [2, 3, 4, 7])
def test_a_call_from_elsewhere_is_no_step_of_a_loop(rounds: int, gpu: bool, tmp_path: Path) -> None:
    """Also where it is the first after those that showed that the loop repeats."""
    script = tmp_path / "elsewhere.py"
    script.write_text(f"""import torch
net = torch.nn.Linear(8, 2).to("cuda" if torch.cuda.is_available() else "cpu")
given = torch.ones(4, 8).to("cuda" if torch.cuda.is_available() else "cpu")
def trained():
    for _ in range({rounds}):
        net(given).sum().backward()
def tested():
    return net(given).max()
for _ in range(2):
    trained(); tested()
""")
    [workload] = _run(script, tmp_path, gpu=gpu)
    lines: collections.Counter[tuple[str, int]] = collections.Counter()
    for entry in workload["ops"]:
        lines[entry["name"], workload["sites"][entry["site"]]["line"]] += entry["count"]
    assert (lines["aten.addmm", 6], lines["aten.addmm", 8], lines["aten.max", 8]) == (2 * rounds, 2, 2)
    assert not [u for u in workload["unseen"] if u["reason"] == "step-differs"]


GRADIENTS = """import sys, torch
device = "cuda" if torch.cuda.is_available() else "cpu"
weight = torch.ones(8, 4, device=device, requires_grad=True)
seen = []
for i in range(300):
    loss = (torch.ones(32 if i < 200 else 16, 8, device=device) @ weight).square().mean()
    if sys.argv[1] == "backward":
        loss.backward(); gradient = weight.grad
    else:
        gradient, = torch.autograd.grad(loss, weight)
    with torch.no_grad():
        weight -= 0.01 * gradient
        weight.grad = None
    if i % 50 == 0: seen.append(loss.item())
print(len(seen), weight.sum().item() > 0)
layer = torch.nn.Linear(8, 2).to(device)
optimizer = torch.optim.SGD(layer.parameters(), 0.1)
for _ in range(20):
    optimizer.zero_grad(); layer(torch.ones(5, 8, device=device)).sum().backward(); optimizer.step()
"""


@pytest.mark.parametrize("gpu", [False, True])
@pytest.mark.parametrize("how", ["backward", "grad"])
def test_a_loop_without_optimizer_or_module_repeats(how: str, gpu: bool, tmp_path: Path) -> None:
    """Each gradient ends a step there, until there is an optimizer."""
    script = tmp_path / "gradients.py"
    script.write_text(GRADIENTS)
    [workload] = _run(script, tmp_path, how, gpu=gpu)
    assert workload["program"]["sampling"] > 5
    lines: collections.Counter[tuple[int, str, int]] = collections.Counter()
    for entry in workload["ops"]:
        rows = 16 if "[16," in entry["shapes"] else 32 if "[32," in entry["shapes"] else 0
        lines[workload["sites"][entry["site"]]["line"], entry["name"], rows] += entry["count"]
    # What led to the first gradient of another shape was not watched.
    assert (lines[6, "aten.mm", 32], lines[6, "aten.mm", 16]) == (200, 99)
    assert [u for u in workload["unseen"] if "did something else" in u["text"]]
    # Where it goes on with something else that is not known of what asks for no memory either.
    assert 298 <= lines[12, "aten.sub_", 0] <= 300
    assert sum(count for (line, name, _),
        count in lines.items() if line == 14 and name == "aten._local_scalar_dense") == 6
    assert lines[19, "aten.addmm", 0] == 20


#: An inference loop timed as a whole, and one timed step by step: layers between two readings of the clock.
TIMED = {
    "as a whole": ("began = time.perf_counter()\nfor _ in range(9):\n    net(x)\n    "
                   "torch.cuda.synchronize()\ntime.perf_counter()\n", [27]),
    "without a wait": ("began = time.perf_counter()\nfor _ in range(9):\n    "
                       "net(x)\ntorch.cuda.synchronize()\ntime.perf_counter()\n", [27]),
    "each": ("for _ in range(9):\n    time.perf_counter()\n    net(x)\n    torch.cuda.synchronize()\n    "
             "time.perf_counter()\n", [3, 0] * 8 + [3]),
}


@pytest.mark.parametrize("fake", [False, True])
@pytest.mark.parametrize("timed", TIMED)
def test_a_clock_is_read_after_what_unwatched_steps_have_done(timed: str, fake: bool, tmp_path: Path) -> None:
    loop, expected = TIMED[timed]
    script = tmp_path / "script.py"
    script.write_text(
        "import time\nimport torch\nnet = torch.nn.Sequential(*[torch.nn.Linear(8, 8) for _ in "
        "range(3)]).to('cuda').eval()\n"
        f"x = torch.randn(4, 8, device='cuda')\nwith torch.inference_mode():\n    for _ in range(5):\n        "
        f"net(x)\n{indent(loop, '    ')}"
    )
    [workload] = _run(script, tmp_path, gpu=True, fake=fake)

    def expanded(steps: list[Any]) -> list[int]:
        return [one for step in steps for one in ([step] if isinstance(step, int) else expanded(step[1]) * step[0])]

    names = [workload["ops"][entry]["name"] for entry in expanded(workload["order"])]
    read = [marker["position"] for marker in workload["markers"]]
    between = [names[first:last] for first, last in zip(read, read[1:])]
    assert [part.count("aten.addmm") for part in between] == expected
    # The wait comes after what it waits for.
    assert all(part[-1] == "torch.cuda.synchronize" for part in between if part)
