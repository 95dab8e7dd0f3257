"""Kernels that programs write themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from cupy_running import device, record

import breakeven
from breakeven import _kernel


def flop(workload: dict, name: str) -> float:  # type: ignore[type-arg]
    """FLOP of one launch of a described kernel."""
    (entry,) = [entry for entry in workload["ops"] if entry["name"] == name]
    op = entry["op"]["elementwise"]
    return float(op["n"] * op["flop_per_element"])


def test_an_element_wise_kernel(tmp_path: Path) -> None:
    source = """import cupy as cp
square = cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_diff")
a = cp.arange(6, dtype=cp.float32).reshape(2, 3)
print(square(a, 2.0), square(a, 2.0).dtype)
step = cp.ElementwiseKernel("float64 x", "float64 y, int32 kind", '''
    double t = exp(-x);  // decays
    kind = 0;
    if (x > 2) { y = t; kind = 1; } else y = x < 1 ? 0 : 1.0 / (1 + t);
''', "step")
y, kind = step(cp.arange(5.0))
print(y.get().round(6), kind)
shift = cp.ElementwiseKernel("raw T x, int32 n", "T y", "y = x[(i + 1) % n]", "shift")
print(shift(cp.arange(5.0), 5, size=5))
out = cp.empty(4)
square(cp.ones(4), cp.zeros(4), out)
print(out)
"""
    out, workload = record(source, tmp_path)
    assert out == (
        "[[4. 1. 0.]\n [1. 4. 9.]] float32\n[0.       0.731059 0.880797 0.049787 0.018316] [0 0 0 1 1]\n"
        "[1. 2. 3. 4. 0.]\n[1. 1. 1. 1.]\n"
    )
    first = [entry for entry in workload["ops"] if entry["name"] == "cupy.ElementwiseKernel"][0]
    assert first["op"]["elementwise"]["n"] == 6 and first["op"]["elementwise"]["flop_per_element"] == 3


def test_a_reduction_kernel(tmp_path: Path) -> None:
    source = """import cupy as cp
norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
a = cp.arange(10, dtype=cp.float64).reshape(2, 5)
print(norm(a).round(6), norm(a, axis=1).round(6), norm(a, axis=0, keepdims=True).shape)
"""
    out, _ = record(source, tmp_path)
    assert out == "16.881943 [ 5.477226 15.968719] (1, 5)\n"


def test_numbers_are_of_the_type_that_is_declared(tmp_path: Path) -> None:
    source = """import cupy as cp
x, i = cp.arange(4, dtype=cp.float32), cp.arange(4)
print(cp.ElementwiseKernel("float32 x, int32 n", "float32 z", "z = x * n", "whole")(x, 2.7))
print(cp.ElementwiseKernel("T x, T a", "T z", "z = x * a", "same")(i, 2.5))
print(cp.ElementwiseKernel("float32 x, float32 a", "float64 z", "z = a", "short")(x, 0.1)[0].item() == 0.1)
print(cp.ElementwiseKernel("float64 x, float64 a", "float64 z", "z = x + a / 2", "long")(cp.zeros(1), 3))
print(cp.ReductionKernel("T x, int32 n", "T y", "x * n", "a + b", "y = a", "0", "scaled")(x, 2.7))
"""
    out, _ = record(source, tmp_path)
    assert out == "[0. 2. 4. 6.]\n[0 2 4 6]\nFalse\n[1.5]\n12.0\n"


def test_what_is_fused_is_one_launch(tmp_path: Path) -> None:
    source = """import cupy as cp
@cp.fuse(kernel_name="f")
def f(x, y):
    return cp.sin(x) * y + 1
print(float(f(cp.zeros(1000), cp.ones(1000)).sum()))
for branch in (lambda x: x if x > 0 else -x, lambda x: x * float(x.sum())):
    try:
        cp.fuse(branch)(cp.ones(1))
    except TypeError as error:
        print(error)
"""
    out, workload = record(source, tmp_path)
    assert out == "1000.0\n" + 2 * "Cannot convert to Python scalar in cupy.fuse\n"
    assert device(workload)["cupy.fuse"] == 1 and "cupy.sin" not in device(workload)
    assert flop(workload, "cupy.fuse") == 1000 * (26 + 1 + 1)


RAW = """import cupy as cp
code = 'extern "C" __global__ void saxpy(const float* x, const float* y, float a, float* out) {}'
saxpy = cp.RawKernel(code, "saxpy")
x = cp.ones(1000, cp.float32)
out = cp.zeros(1000, cp.float32)
"""


def test_a_cuda_kernel_that_nobody_described(tmp_path: Path) -> None:
    source = RAW + """try:
    saxpy((4,), (256,), (x, x, cp.float32(2), out))
except NotImplementedError as error:
    print(error)
"""
    out, _ = record(source, tmp_path)
    assert "breakeven's stand-in for cupy cannot run CUDA kernel 'saxpy'" in out and "breakeven.kernel('saxpy'" in out


def test_a_cuda_kernel_that_is_described(tmp_path: Path) -> None:
    source = RAW + """import breakeven
@breakeven.kernel("saxpy", flops=lambda grid, block, args: 2 * args[0].size, bytes=12_000)
def effect(x, y, a, out):
    out[:] = a * x + y
saxpy((4,), (256,), (x, x, cp.float32(2), out))
module = cp.RawModule(code=code)
module.get_function("saxpy")((4,), (256,), (x, x, cp.float32(2), out))
print(out[:3])
"""
    out, workload = record(source, tmp_path)
    assert out == "[3. 3. 3.]\n"
    (entry,) = [entry for entry in workload["ops"] if entry["name"] == "cupy.RawKernel" and entry["read_bytes"]][:1]
    assert entry["read_bytes"] == 12_000
    assert sum(e["count"] for e in workload["ops"] if e["name"] == "cupy.RawKernel") == 2
    assert not workload["unseen"]


def test_a_kernel_without_an_effect_is_told(tmp_path: Path) -> None:
    source = RAW + """import breakeven
with breakeven.kernel("saxpy", flops=2000, bytes=12_000):
    saxpy((4,), (256,), (x, x, cp.float32(2), out))
print(out[:3])
"""
    out, workload = record(source, tmp_path)
    assert out == "[0. 0. 0.]\n"
    assert [unseen["reason"] for unseen in workload["unseen"]] == ["kernel-effect"]


def test_a_reduction_that_is_described(tmp_path: Path) -> None:
    source = """import cupy as cp
import breakeven
square = "template<class T> __device__ T square(T x) { return x * x; }"
norm = cp.ReductionKernel("T x", "T y", "square(x)", "a + b", "y = a", "0", "norm", preamble=square)
a = cp.ones((2, 3))
try:
    norm(a)
except NotImplementedError as error:
    print("breakeven.kernel('norm'" in str(error))
@breakeven.kernel("norm", flops=lambda grid, block, args: 2 * args[0].size, bytes=48)
def effect(x, y):
    y[...] = (x * x).sum(axis=1 if y.ndim else None)
print(norm(a), norm(a, axis=1))
each = cp.ElementwiseKernel("T x", "T y", "y = square(x)", "each", preamble=square)
with breakeven.kernel("each", flops=6, bytes=96):
    print(each(cp.ones(2)))
"""
    out, workload = record(source, tmp_path)
    assert out == "True\n6.0 [3. 3.]\n[0. 0.]\n"
    assert {entry["read_bytes"] for entry in workload["ops"] if entry["name"] == "cupy.ReductionKernel"} == {48}
    assert [unseen["reason"] for unseen in workload["unseen"]] == ["kernel-effect"]  # of `each`


def test_a_filter_by_a_reduction(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import numpy as np
import cupy as cp
import scipy.ndimage
from cupyx.scipy import ndimage
total = cp.ReductionKernel("X x", "Y y", "x", "a + b", "y = a", "0", "total")
image = np.arange(30.0).reshape(5, 6)
for mode in ("reflect", "constant", "wrap"):
    found = ndimage.generic_filter(cp.asarray(image), total, (3, 2), mode=mode, origin=(1, 0))
    print(np.allclose(found.get(), scipy.ndimage.generic_filter(image, np.sum, (3, 2), mode=mode, origin=(1, 0))))
for function in (np.sum, cp.ElementwiseKernel("T x", "T y", "y = x", "e")):
    try:
        ndimage.generic_filter(cp.asarray(image), function, 3)
    except TypeError as error:
        print(error)
"""
    out, _ = record(source, tmp_path)
    assert out == "True\nTrue\nTrue\nbad function type\nonly ReductionKernel allowed (not ElementwiseKernel)\n"


def test_c_that_is_not_imitated_says_so(tmp_path: Path) -> None:
    source = """import cupy as cp
loop = cp.ElementwiseKernel("T x", "T y", "switch (1) {}", "loop")
try:
    loop(cp.ones(3))
except NotImplementedError as error:
    print(error)
"""
    out, _ = record(source, tmp_path)
    assert out.startswith("breakeven's stand-in for cupy cannot run kernel 'loop': `switch` is not imitated. Describe it")


@pytest.mark.parametrize("wrong", [-1, float("nan"), float("inf")])
def test_amounts_are_checked(wrong: float) -> None:
    with pytest.raises(ValueError, match="not a number from 0 on"):
        breakeven.kernel("k", flops=wrong, bytes=1)
    with pytest.raises(ValueError, match="by its name"):
        breakeven.kernel("", flops=1, bytes=1)
    assert _kernel.described("k") is None


def test_loops_of_each_elements_own_length(tmp_path: Path) -> None:
    source = """import numpy as np
import cupy as cp
escape = cp.ElementwiseKernel("complex128 c, int32 most", "int32 n",
    "complex128 z = 0; n = 0; for (int k = 0; k < most; k++) { z = z * z + c; if (abs(z) > 2) break; n++; }", "escape")
c = np.array([0, 0.5, -1, 1 + 1j, 3])
def steps(value):
    z, n = 0, 0
    for k in range(20):
        z = z * z + value
        if abs(z) > 2:
            break
        n += 1
    return n
print(escape(cp.asarray(c), 20).tolist() == [steps(value) for value in c])
halve = cp.ElementwiseKernel("T x", "T y", "y = x; while (y > 1) { y /= 2; if (y < 0.6) continue; y -= 0.1; }", "halve")
print(halve(cp.array([3.0, 1.0, 2.0])).round(6))
product = cp.ElementwiseKernel("raw T a, raw T b, int32 n", "T c",
    "T s = 0; for (int k = 0; k < n; ++k) s += a[i / n * n + k] * b[k * n + i % n]; c = s;", "product")
print(product(cp.arange(4.0), cp.arange(4.0), 2, size=4))
count = cp.ElementwiseKernel("raw I at", "raw T y", "atomicAdd(&y[at[i]], 1.0)", "count")
print(count(cp.array([0, 0, 1]), cp.zeros(2), size=3))
ahead = cp.ElementwiseKernel("raw T x, int32 n", "T y", "y = 0; if (i + 1 < n) y = x[i + 1];", "ahead")
print(ahead(cp.arange(3.0), 3, size=3))
"""
    out, workload = record(source, tmp_path)
    assert out == "True\n[0.6 1.  0.9]\n[ 2.  3.  6. 11.]\n[2. 1.]\n[1. 2. 0.]\n"
    found = [entry["op"]["elementwise"] for entry in workload["ops"] if "elementwise" in entry["op"]]
    product = next(op for op in found if op["n"] == 4)
    assert product["flop_per_element"] > 2 * 2  # two turns of a product and a sum, and their places


def test_a_kernel_in_python(tmp_path: Path) -> None:
    source = """import cupy as cp
import breakeven
from cupyx import jit
@jit.rawkernel()
def double(x, y, n):
    i = jit.grid(1)
    if i < n:
        y[i] = 2 * x[i]
x, y = cp.arange(4.0), cp.zeros(4)
try:
    double[1, 4](x, y, 4)
except NotImplementedError as error:
    print("breakeven.kernel('double'" in str(error))
@breakeven.kernel("double", flops=4, bytes=64)
def effect(x, y, n):
    y[:] = 2 * x
double[1, 4](x, y, 4)
double((1,), (4,), (x, y, 4))
print(y)
"""
    out, workload = record(source, tmp_path)
    assert out == "True\n[0. 2. 4. 6.]\n"
    assert sum(entry["count"] for entry in workload["ops"] if entry["name"] == "cupy.RawKernel") == 2
