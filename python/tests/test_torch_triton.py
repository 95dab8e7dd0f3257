"""Triton's kernels on an imitated GPU."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None or importlib.util.find_spec("triton") is None:
    pytest.skip("PyTorch or Triton is not installed: kernels of the latter are not tested", allow_module_level=True)

from test_torch_pretend import _run

SCRIPT = """
import torch, triton
import triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)

@triton.autotune(configs=[triton.Config({"M": 32}, num_warps=8), triton.Config({"M": 64})], key=["k"])
@triton.jit
def product(a, b, out, k, n: tl.constexpr, M: tl.constexpr, K: tl.constexpr):
    rows, columns, inner = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, n), tl.arange(0, K)
    total = tl.zeros((M, n), dtype=tl.float32)
    for first in range(0, k, K):
        left = tl.load(a + rows[:, None] * k + first + inner[None, :])
        total += tl.dot(left, tl.load(b + (first + inner[:, None]) * n + columns[None, :]))
    tl.store(out + rows[:, None] * n + columns[None, :], total)

@triton.jit
def count(x, into, BLOCK: tl.constexpr):
    tl.atomic_add(into, tl.sum(tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)), axis=0))

n = 5000
x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
out = torch.empty_like(x)
for step in range(3):
    add[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n, BLOCK=1024)
a, b, c = torch.randn(64, 128, device="cuda"), torch.randn(128, 32, device="cuda"), torch.empty(64, 32, device="cuda")
product[lambda meta: (64 // meta["M"],)](a, b, c, 128, 32, K=32)
ones, counted = torch.ones(256, device="cuda"), torch.zeros(1, device="cuda")
count[(4,)](ones, counted, BLOCK=64)
print(torch.equal(out, x + y), torch.allclose(c, a @ b, atol=1e-4), counted.item() == 256, out.is_cuda)
try:
    add[(1,)](x, y.cpu(), out, 4, BLOCK=16)
except ValueError as error:
    print(error)
"""


def _launches(workload: Any) -> list[tuple[int, float, int]]:
    """How often, FLOP and bytes of each kernel, in the order of its lines."""
    found = []
    for entry in workload["ops"]:
        if entry["name"] == "breakeven.kernel":
            op = entry["op"]["elementwise"]
            line = workload["sites"][entry["site"]]["line"]
            assert entry["cpu_ns"] == 0, "the interpreter's time is nobody's"
            moved = entry["read_bytes"] + entry["written_bytes"]
            found.append((line, entry["count"], round(op["n"] * op["flop_per_element"]), moved))
    return [launch[1:] for launch in sorted(found)]


def test_kernels_are_interpreted_and_counted(tmp_path: Path) -> None:
    script = tmp_path / "kernels.py"
    script.write_text(SCRIPT)
    workload, out = _run(script, tmp_path)
    assert out.splitlines() == [
        "True True True True", "Pointer argument (at 1) cannot be accessed from Triton (cpu tensor?)"
    ]  # fmt: skip
    add, product, count = _launches(workload)
    assert add == (3, 5 * 1024, 3 * 4 * 5000)
    # Products, and the sums of four blocks.
    assert product == (1, 2 * 64 * 128 * 32 + 4 * 64 * 32, 4 * (64 * 128 + 128 * 32 + 64 * 32))
    assert count[0] == 1 and count[2] == 4 * 256 + 4
    assert [u["count"] for u in workload["unseen"] if u["reason"] == "autotune"] == [1]
    of_gpu = {entry["name"] for entry in workload["ops"] if entry.get("device")}
    assert not of_gpu & {"aten.set_", "aten.copy_"}, "what the interpreter does is none of the script's"


def test_without_values_what_a_kernel_computes_is_said(tmp_path: Path) -> None:
    script = tmp_path / "kernels.py"
    described = 'import breakeven\nbreakeven.kernel("add", flops=5000, bytes=60000)\n'
    script.write_text(SCRIPT.replace("\nn = 5000\n", f"\n{described}n = 5000\n"))
    workload, out = _run(script, tmp_path, fake=True)
    assert "cpu tensor?" in out
    assert _launches(workload) == [(3, 5000, 60000)]
    opaque = {entry["name"]: entry["op"] for entry in workload["ops"] if entry["name"].startswith("triton.")}
    assert opaque == {"triton.product": "opaque", "triton.count": "opaque"}
    told = [u["text"] for u in workload["unseen"] if u["reason"] == "kernel-effect"]
    assert len(told) == 2 and all("breakeven.kernel" in text for text in told)


def test_products_of_a_wider_type(tmp_path: Path) -> None:
    script = tmp_path / "wider.py"
    script.write_text("""import torch
a, b = torch.randn(8, 16, device="cuda", dtype=torch.bfloat16), torch.randn(16, 4, device="cuda", dtype=torch.bfloat16)
total = torch.zeros(8, 4, device="cuda")
print(torch.mm(a, b, out_dtype=torch.float32).dtype, torch.bmm(a[None], b[None], out_dtype=torch.float32).shape)
torch.addmm(total, a, b, out_dtype=torch.float32, out=total)
print(torch.allclose(total, a.float() @ b.float(), atol=0.1), torch.baddbmm(total[None], a[None], b[None], out_dtype=torch.float32).is_cuda)
""")
    workload, out = _run(script, tmp_path)
    assert out.splitlines() == ["torch.float32 torch.Size([1, 8, 4])", "True True"]
    halves = [e for e in workload["ops"] if isinstance(e["op"], dict) and "matmul" in e["op"] and e["dtype"] == "bf16"]
    assert sum(entry["count"] for entry in halves) == 4
