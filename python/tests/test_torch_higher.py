"""PyTorch's ops that take functions, and what PyTorch itself does without values, in all ways of recording."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is not installed: its recorder is not tested", allow_module_level=True)
pytest.importorskip("torch.nn.attention.flex_attention", reason="this PyTorch has no flex_attention")

from test_torch_pretend import _run

SCRIPT = """
import warnings
import torch
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
warnings.filterwarnings("ignore")
torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
q = torch.randn(1, 2, 128, 16).to(device)
mask = create_block_mask(lambda b, h, i, j: i >= j, 1, 1, 128, 128, device=device)
results = [
    flex_attention(q, q, q),
    flex_attention(q, q, q, score_mod=lambda s, b, h, i, j: s + (i - j)),
    flex_attention(q, q, q, block_mask=mask),
    torch.cond(q.sum() > 1e9, lambda x: x - 1, lambda x: x @ x.mT @ x, (q,)),
    while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (torch.tensor(0), q))[1],
    scan(lambda carry, x: (carry + x, carry * x), torch.zeros(16, device=device), q[0, 0])[1],
]
exported = torch.export.export(torch.nn.Linear(16, 4).to(device), (q[0, 0],))
print([tuple(result.shape) for result in results], len(exported.graph.nodes))
print([round(float(result.double().sum()), 6) for result in results])
"""


@pytest.mark.parametrize("how", ["recorded", "pretended", "without values"])
def test_ops_that_take_functions(how: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    plain = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=240, check=True
    ).stdout
    fake = how == "without values"
    workload, out = _run(script, tmp_path, fake=fake, pretend=how != "recorded")
    shapes, values = out.splitlines()
    assert shapes == plain.splitlines()[0]
    assert fake or values == plain.splitlines()[1]
    # Each attention has two products, of 128 × 16 by 16 × 128 and back, for two heads; so has one branch of `cond`.
    products = [e for e in workload["ops"] if isinstance(e["op"], dict) and "matmul" in e["op"]]
    flops = sum(2 * p["m"] * p["n"] * p["k"] * p["batch"] * e["count"] for e in products if (p := e["op"]["matmul"]))
    each = 2 * 128 * 128 * 16 * 2
    assert flops == 2 * 4 * each
    assert {note["reason"] for note in workload["unseen"]}.isdisjoint({"higher-order-op", "hook-failed"})


def test_without_values_arrays_and_lengths_in_lists(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""
import numpy
import torch
x = torch.randn(4, 8, device="cuda")
print(numpy.asarray(x.cpu()).shape, numpy.array(x.cpu(), dtype=numpy.float64).dtype, numpy.stack([x.cpu()] * 2).shape)
labels = torch.ones(2, 2, dtype=torch.long, device="cuda")
logits = torch.randn(5, 2, 3, device="cuda").log_softmax(2)
print(torch.nn.functional.ctc_loss(logits, labels, (5, 5), [2, 2]).device)
""")
    _, out = _run(script, tmp_path, fake=True)
    assert out.splitlines() == ["(4, 8) float64 (2, 4, 8)", "cuda:0"]
