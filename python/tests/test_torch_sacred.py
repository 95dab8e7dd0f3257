"""Scripts that use much of PyTorch: with the recorder on, every byte they print stays the same, tracebacks included."""

from __future__ import annotations

import importlib.util
import json
import signal
import sys
from pathlib import Path

import pytest
from running import run, traced, untraced, workloads

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is not installed: its recorder is not tested", allow_module_level=True)

from test_torch_pretend import L4, _run


@pytest.mark.parametrize("script", ["torch_lists.py", "torch_locals.py", "torch_many.py", "torch_patched.py",
    "torch_seen.py"])
def test_nothing_changes(script: str, tmp_path: Path) -> None:
    plain = untraced(tmp_path / "at", [script])
    seen = traced(tmp_path / "at", [script], "native", tmp_path / "record")
    assert (plain.code, plain.out.decode(), plain.err.decode()) == (seen.code, seen.out.decode(), seen.err.decode())


def test_methods_of_tensors_are_pickled_and_copied(tmp_path: Path) -> None:
    script = tmp_path / "pickled.py"
    script.write_text("""import copy, pickle, torch
for name in ("item", "numpy", "tolist", "cpu", "to", "cuda", "__bool__"):
    method = getattr(torch.Tensor, name)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(method, protocol)) is method, (name, protocol)
    assert copy.deepcopy(method) is copy.copy(method) is method
    print(name, pickle.loads(pickle.dumps(torch.ones(1).item))())
for function in (torch.as_tensor, torch.zeros, torch.mm, torch.nn.functional.one_hot, torch.nn.functional.scaled_dot_product_attention):
    assert pickle.loads(pickle.dumps(function)) is copy.deepcopy(function) is function, function
""")
    plain = untraced(tmp_path / "at", [str(script)])
    seen = traced(tmp_path / "at", [str(script)], "native", tmp_path / "record")
    assert (plain.code, plain.out.decode(), plain.err.decode()) == (seen.code, seen.out.decode(), seen.err.decode())
    assert plain.code == 0
    assert plain.out.decode() == _run(script, tmp_path)[1]


@pytest.mark.parametrize("gpu", [False, True])
def test_modules_nest_as_deep_as_they_do(gpu: bool, tmp_path: Path) -> None:
    script = tmp_path / "deep.py"
    script.write_text("""import torch
def deepest():
    module = torch.nn.Identity()
    for depth in range(1, 1000):
        module = torch.nn.Sequential(module)
        try:
            depth < 100 or module(torch.ones(1))
        except RecursionError:
            return depth
print(deepest(), deepest())
""")
    plain = untraced(tmp_path / "at", [str(script)])
    if gpu:
        _, out = _run(script, tmp_path)
    else:
        out = traced(tmp_path / "at", [str(script)], "native", tmp_path / "record").out.decode()
    assert plain.out.decode() == out


@pytest.mark.parametrize("gpu", [False, True])
def test_a_module_that_calls_itself_too_deeply_is_told_so(gpu: bool, tmp_path: Path) -> None:
    script = tmp_path / "itself.py"
    script.write_text("""import sys, torch
class Itself(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 2)
    def forward(self, x):
        return self(self.inner(x))
module = Itself()
for more in range(12):
    sys.setrecursionlimit(1000 + more)
    try:
        module(torch.ones(1, 2))
    except Exception as error:
        print(type(error))
""")
    if gpu:
        _, out = _run(script, tmp_path)
    else:
        out = traced(tmp_path / "at", [str(script)], "native", tmp_path / "record").out.decode()
    assert out == "<class 'RecursionError'>\n" * 12


CLASSES = """import torch
class Own(torch.Tensor):
    def __init__(self, *given):
        self.note = "kept"
class Made(torch.Tensor):
    @staticmethod
    def __new__(cls, given):
        return super().__new__(cls, given)
class Further(Own):
    pass
def show(t):
    print(type(t), t.shape, t.dtype, t.requires_grad, t.is_leaf, t.grad_fn is None, t._version, getattr(t, "note", None))
for kind in (torch.Tensor, Own, Made, Further):
    for given in ([1.0, 2.0], torch.ones(3), torch.ones(2, requires_grad=True), torch.ones(2, dtype=torch.int64)):
        show(kind(given))
show(Own(2, 3))
show(Own())
show(Further(Own([1.0])))
show(Own(Further([1.0])))
x = torch.ones(3)
shared = Own(x)
shared += 4
print(x.sum().item() == 15, shared._base is None)
own = Own([1.0, 2.0])
own.requires_grad_()
(own * own).sum().backward()
print(own.grad.tolist() == [2, 4], own._is_view())
for given in ("x", [1, "a"], -1):
    try:
        Own(given)
    except Exception as error:
        print(type(error), error)
for _ in range(20):  # its compiler is imported
    torch.optim.SGD([own], 0.1).step()
Own("x")
"""


def test_classes_of_the_scripts_own_are_made_as_they_are(tmp_path: Path) -> None:
    script = tmp_path / "classes.py"
    script.write_text(CLASSES)
    plain = untraced(tmp_path / "at", [str(script)])
    seen = traced(tmp_path / "at", [str(script)], "native", tmp_path / "record")
    assert (plain.code, plain.out.decode(), plain.err.decode()) == (seen.code, seen.out.decode(), seen.err.decode())
    assert plain.code == 1 and plain.err.count(b"\n") == 4
    script.write_text(CLASSES.replace('Own("x")\n', ""))
    assert _run(script, tmp_path)[1] == plain.out.decode()
    # Of a shape alone it is not said that it is one of itself.
    lines = _run(script, tmp_path, fake=True)[1].splitlines()
    assert len(lines) == len(plain.out.splitlines()) and lines[4].startswith("<class '__main__.Own'> torch.Size([2]) "
        "torch.float32")


@pytest.mark.parametrize("pretend", [False, True])
def test_a_mode_of_the_scripts_that_has_no_values_is_left_to_it(pretend: bool, tmp_path: Path) -> None:
    script = tmp_path / "fake.py"
    script.write_text("""import torch
from torch._subclasses.fake_tensor import FakeTensorMode
with FakeTensorMode() as mode:
    x = torch.ones(100_000, 100_000)
    print((x @ x).shape, type(x).__name__)
    net = torch.nn.Linear(100_000, 100_000)
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(20):
        optimizer.zero_grad()
        net(torch.ones(2, 100_000)).sum().backward()
        optimizer.step()
    print(net.weight.grad.shape)
print(type(mode.from_tensor(torch.ones(3)) + 1).__name__)
""")
    plain = untraced(tmp_path / "at", [str(script)])
    assert plain.code == 0
    if pretend:
        workload, out = _run(script, tmp_path)
        assert out == plain.out.decode()
    else:
        seen = traced(tmp_path / "at", [str(script)], "native", tmp_path / "record")
        assert (plain.code, plain.out.decode(), plain.err.decode()) == (seen.code, seen.out.decode(), seen.err.decode())
        [workload] = workloads(tmp_path / "record")
    assert workload["program"]["peak_bytes"] < 1 << 20
    assert not {unseen["reason"] for unseen in workload["unseen"]} - {"pretend-gpu", "step-differs"}


def test_tensors_that_have_a_shape_alone_take_nothing(tmp_path: Path) -> None:
    script = tmp_path / "nowhere.py"
    script.write_text("""import torch
with torch.device("meta"):
    large = torch.nn.Linear(100_000, 100_000)
optimizer = torch.optim.Adam(large.parameters())
large(torch.empty(2, 100_000, device="meta")).sum().backward()
optimizer.step()
print(sum(p.numel() for p in large.parameters()), large.weight.is_meta)
small = torch.nn.Linear(8, 4, device="meta").to_empty(device="cpu")
torch.nn.init.zeros_(small.weight)
print(small(torch.ones(1, 8)).shape)
""")
    for fake in (False, True):
        for pretend in (False, True):
            workload, out = _run(script, tmp_path, fake=fake, pretend=pretend)
            assert out.splitlines() == ["10000100000 True", "torch.Size([1, 4])"]
            assert workload["program"]["peak_bytes"] < 1 << 20, workload["program"]
            assert not {unseen["reason"] for unseen in workload["unseen"]} - {"fake", "pretend-gpu"}
            assert {e["name"] for e in workload["ops"] if e["op"] != "view"} <= {"aten.zero_", "aten.ones",
                "aten.addmm", "torch.host_scalar"}
            next(tmp_path.glob("*.breakeven.json")).unlink()


def test_what_is_seen_of_it(tmp_path: Path) -> None:
    traced(tmp_path / "at", ["torch_many.py"], "native", tmp_path / "record")
    main = max(workloads(tmp_path / "record"), key=lambda workload: len(workload["ops"]))
    names = {entry["name"] for entry in main["ops"]}
    assert {"aten.convolution", "aten.convolution_backward", "aten._foreach_norm", "aten.mm"} <= names
    assert {entry.get("phase") for entry in main["ops"]} >= {"forward", "backward", "optimizer"}
    assert {main["sites"][entry["site"]].get("module") for entry in main["ops"]} >= {"0", "1", "5"}
    assert "channels_last" in {entry.get("layout") for entry in main["ops"]}
    assert "torch-compile" in {unseen["reason"] for unseen in main["unseen"]}
    opaque = {entry["name"].partition(".")[0] for entry in main["ops"] if entry["op"] == "opaque"}
    assert opaque <= {"quantized", "aten"}
    assert not [u for u in main["unseen"] if u["reason"] == "hook-failed"]


def test_workers_of_a_data_loader_count_no_memory_of_their_parent(tmp_path: Path) -> None:
    traced(tmp_path / "at", ["torch_many.py"], "native", tmp_path / "record")
    sizes = sorted(workload["program"]["peak_bytes"] for workload in workloads(tmp_path / "record"))
    assert len(sizes) == 5 and sizes[3] < 1000 < sizes[4]


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="a thread's own variables go last first: the script's before "
                                                        "ours")
def test_threads_that_have_ended_leave_nothing_to_c(tmp_path: Path) -> None:
    script = tmp_path / "ends.py"
    script.write_text("""import threading, torch
class Last:
    def __del__(self):
        print(torch._C._len_torch_function_stack(), torch._C._len_torch_dispatch_stack())
of_thread = threading.local()
def work():
    of_thread.last = Last()
    print((torch.ones(3) + 1).sum().item())
for _ in range(2):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
""")
    traced_run = traced(tmp_path / "at", [str(script)], "native", tmp_path / "record")
    assert (traced_run.code, traced_run.out) == (0, b"6.0\n0 0\n" * 2), traced_run.err
    [workload] = workloads(tmp_path / "record")
    assert sum(entry["count"] for entry in workload["ops"] if entry["name"] == "aten.add") == 2


def test_threads_that_still_run_at_the_end(tmp_path: Path) -> None:
    script = tmp_path / "daemons.py"
    script.write_text("""import sys, threading, time, torch
def work():
    while True:
        time.sleep(0.0005)
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
class Slow:
    def __del__(self):
        time.sleep(0.2)
sys.kept = Slow()
thread = threading.Thread(target=lambda: torch.ones(3).add_(1))
thread.start()
thread.join()
print("done")
""")
    traced_run = traced(tmp_path / "at", [str(script)], "native", tmp_path / "record")
    assert (traced_run.code, traced_run.out) == (0, b"done\n"), traced_run.err
    [workload] = workloads(tmp_path / "record")
    assert "aten.add_" in {entry["name"] for entry in workload["ops"]}


SIGNALS = """import os, signal, threading, time, torch
class Timeout(Exception):
    pass
def alarm(*_):
    raise Timeout
signal.signal(signal.SIGALRM, alarm)
device = "cuda" if torch.cuda.is_available() else "cpu"
x, bias = torch.zeros(200, 200, device=device), torch.zeros(4, requires_grad=True, device=device)
net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def train():
    optimizer.zero_grad()
    net(torch.ones(4, 8, device=device)).mean().backward()
    optimizer.step()
works = [lambda: x @ x, lambda: bias.add(1).sum().backward(), lambda: bias.sum().item(), train, lambda: x.to(device).cpu()]
for work in works:
    work()
    for delay in (0.11, 0.123, 0.137):
        signal.setitimer(signal.ITIMER_REAL, delay)
        end = time.time() + 5
        try:
            while time.time() < end:
                work()
            print("never interrupted")
        except Timeout:
            print("interrupted")
            torch.set_grad_enabled(True)  # an optimizer that is interrupted as it begins leaves it off, recorded or not
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
end = time.time() + 5
while time.time() < end:
    works[0]()
print("still here")
"""


@pytest.mark.parametrize("how", ["plain", "gpu"])
def test_what_a_handler_of_signals_raises_reaches_the_script(how: str, tmp_path: Path) -> None:
    script = tmp_path / "signals.py"
    script.write_text(SIGNALS)
    environment = {"BREAKEVEN_RECORD_DIR": str(tmp_path)}
    if how != "plain":
        environment["BREAKEVEN_PRETEND_GPU"] = json.dumps(L4)
    done = run([sys.executable, "-m", "breakeven._run", str(script)], tmp_path / "at", environment)
    told = done.out.decode().splitlines()
    assert told == 15 * ["interrupted"], done.err.decode()
    assert done.code == -signal.SIGINT and done.err.decode().endswith("KeyboardInterrupt\n")


def test_a_handler_may_raise_where_a_tensor_is_asked_for_its_memory() -> None:
    """Of some thousand signals a few came just then, and what their handler raised was lost."""
    from breakeven.torch.describe import likes

    class Timeout(Exception):
        pass

    class Interrupted:
        dtype = None

        def untyped_storage(self) -> None:
            raise Timeout

    with pytest.raises(Timeout):
        likes._kind(Interrupted())
    import torch

    assert likes._kind(torch.eye(3).to_sparse()) is None


PATCHED = """import torch
calls = 0
def counted(name):
    plain = getattr(torch.Tensor, name)
    def method(self, *args, **kwargs):
        global calls
        calls += 1
        return plain(self, *args, **kwargs)
    setattr(torch.Tensor, name, method)
    return plain
x = torch.ones(3, requires_grad=True)
y = x.sum()
works = {
    "item": lambda: y.item(), "to": lambda: x.to("cpu"), "cpu": lambda: x.cpu(), "tolist": lambda: x.tolist(),
    "numpy": lambda: x.detach().numpy(), "clone": lambda: x.clone(), "backward": lambda: y.backward(), "add": lambda: x.add(1),
    "__float__": lambda: float(y), "__repr__": lambda: repr(x), "__setitem__": lambda: x.detach().__setitem__(0, 2.0),
}
for name, work in works.items():
    calls, plain = 0, counted(name)
    work()
    setattr(torch.Tensor, name, plain)
    print(name, calls)
plain = torch.Tensor.item
torch.Tensor.item = lambda self: 2 * plain(self)
print(torch.ones(3).sum().item())
"""


@pytest.mark.parametrize("how", ["gpu", "fake"])
def test_a_method_that_a_script_has_patched_runs_once(how: str, tmp_path: Path) -> None:
    script = tmp_path / "patched.py"
    script.write_text(PATCHED)
    plain = untraced(tmp_path / "at", [str(script)])
    _, out = _run(script, tmp_path, fake=how == "fake")
    assert plain.out.decode() == out
    assert all(line.endswith(" 1") for line in out.splitlines()[:-1])


@pytest.mark.parametrize("pretend", [False, True])
def test_what_is_stood_in_for_shows_its_source_and_pickles(pretend: bool, tmp_path: Path) -> None:
    script = tmp_path / "shown.py"
    script.write_text("""import inspect, pickle, torch
from torch.utils.data import dataloader
iterator = dataloader._BaseDataLoaderIter
for function in (
    torch.nn.Module.__call__, torch.load, torch.autograd.graph._engine_run_backward, iterator.__init__, iterator.__next__,
):
    print(inspect.signature(function))
    print(inspect.getsource(function))
print(inspect.signature(torch.nn.Linear(2, 2)))
for function in (torch.nn.Module.__call__, iterator.__next__, torch.Tensor.to, torch.as_tensor):
    print(pickle.loads(pickle.dumps(function)) is function)
""")
    plain = untraced(tmp_path / "at", [str(script)])
    _, out = _run(script, tmp_path, pretend=pretend)
    assert out == plain.out.decode() and plain.code == 0, plain.err.decode()


def test_no_python_runs_where_a_tensor_dies(tmp_path: Path) -> None:
    """What a signal's handler raised there nobody would get."""
    script = tmp_path / "dies.py"
    script.write_text("""import types, weakref, torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
def own():
    mask, weight = torch.ones(8, 8), torch.ones(8, requires_grad=True)
    held, there = [mask[1:]], [weight.to(device)]
    moved = held[0].to(device)
    part = (moved * there[0]).view(-1)
    host = part.cpu()
    part.sum().backward()
    return [mask, weight, *held, *there, moved, part, host, weight.grad]
for tensor in own():
    for one in (tensor, tensor.untyped_storage()):
        for reference in weakref.getweakrefs(one):
            assert not isinstance(reference.__callback__, (types.FunctionType, types.MethodType)), reference.__callback__
            print("seen")
""")
    seen = [_run(script, tmp_path / how, pretend=how == "gpu")[1] for how in ("plain",
        "gpu") if (tmp_path / how).mkdir() is None]
    assert "seen" in seen[0]
