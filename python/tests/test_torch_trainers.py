"""Loops that a package runs for the script: counted as if all their steps had been watched."""

from __future__ import annotations

import collections
import importlib.util
from pathlib import Path

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is not installed: its recorder is not tested", allow_module_level=True)

from test_torch_pretend import _run
from test_torch_unwatched import counts_of_both

#: One line of the script's runs it all.
TRAINER = """
import torch

class Fit:
    def __init__(self, net, optimizer):
        self.net, self.optimizer = net, optimizer

    def run(self, batches, before=lambda step: None, after=lambda step: None):
        for step in range(batches):
            before(step)
            self.step(torch.randn(16, 8, device="cuda"))
            after(step)

    def step(self, x):
        if all(torch.equal(x, same) for same in (x,)):
            loss = self.net(x).square().mean()
        loss.backward()
        self.optimizer.step()
        self.end(loss)

    def end(self, loss):
        torch._foreach_zero_([one.grad for one in self.net.parameters()])
        self.last = loss.detach().double()
"""
BEGIN = """
import sys
sys.path.insert(0, {!r})
import torch, trainer
net = torch.nn.Linear(8, 4).cuda()
fit = trainer.Fit(net, torch.optim.SGD(net.parameters(), lr=1e-3))
"""
SCRIPTS = {
    "a tail after the optimizer's step": "fit.run(60)\n",
    "an evaluation now and then": """
def evaluate(step):
    if step % 20 == 19:
        with torch.no_grad():
            print(net(torch.randn(40, 8, device="cuda")).argmax(1).float().mean().item() >= 0)
fit.run(80, after=evaluate)
""",
    "fewer calls than usual": """
def explore(step):
    for _ in range(3 if step in (25, 45) else 4):
        with torch.no_grad():
            net(torch.randn(1, 8, device="cuda")).argmax(1)
fit.run(60, before=explore)
""",
}


@pytest.mark.parametrize("which", SCRIPTS)
def test_steps_of_a_trainer_are_counted(which: str, tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "trainer.py").write_text(TRAINER)
    some, all_of_them = counts_of_both(BEGIN.format(str(packages)) + SCRIPTS[which], tmp_path)
    assert some == all_of_them


def test_a_loop_without_modules_reads_its_values(tmp_path: Path) -> None:
    """How the interpreter calls what it has called often is none of the path there, and no step differs for it."""
    script = tmp_path / "functions.py"
    script.write_text(
        "import torch\n"
        "w, x = torch.eye(3, device='cuda').requires_grad_(), torch.randn(50, 3, device='cuda')\n"
        "optimizer = torch.optim.Adam([w], lr=0.01)\n"
        "for step in range(60):\n"
        "    optimizer.zero_grad()\n"
        "    factor, info = torch.linalg.cholesky_ex(w @ w.T + torch.eye(3, device='cuda'))\n"
        "    if torch.any(info) or not all(part.sum() < 1e9 for part in (w,)):\n"
        "        break\n"
        "    loss = (x @ factor).square().mean()\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "    if step % 5 == 0:\n"
        "        print(loss.item() < 10)\n"
    )
    workload, _ = _run(script, tmp_path)
    assert workload["program"]["sampling"] > 4, "steps go unwatched"
    reads: collections.Counter[int] = collections.Counter()
    for entry in workload["ops"]:
        if isinstance(entry["op"], dict) and "host_read" in entry["op"]:
            reads[workload["sites"][entry["site"]]["line"]] += entry["count"]
    assert (reads[7], reads[13]) == (120, 12)
    # A machine that does much besides may make a step longer.
    assert not [u for u in workload["unseen"] if u["reason"] == "step-differs" and "longer" not in u["text"]]
