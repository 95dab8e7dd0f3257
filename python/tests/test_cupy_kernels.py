"""Kernels that programs write themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cupy_running import device, record

import breakeven
from breakeven.events import kernel


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
print(square(cp.ones(4), cp.zeros(4), out, block_size=256) is out, out)
try:
    square(cp.ones(4), cp.zeros(4), out=out)
except TypeError as error:
    print(str(error)[:23])
"""
    out, workload = record(source, tmp_path)
    assert out == (
        "[[4. 1. 0.]\n [1. 4. 9.]] float32\n[0.       0.731059 0.880797 0.049787 0.018316] [0 0 0 1 1]\n"
        "[1. 2. 3. 4. 0.]\nTrue [1. 1. 1. 1.]\nWrong arguments {'out':\n"
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


def test_what_a_reduction_refuses(tmp_path: Path) -> None:
    source = """import cupy as cp
total = cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
a = cp.ones((2, 3))
print(total(a, cp.empty(3), axis=-2), total(a, axis=(0, 1)))
for call in (
    lambda: total(a, axis=2), lambda: total(a, axis=-3), lambda: total(a, axis=(0, 0)), lambda: total(a, axis=1.0),
    lambda: total(a, cp.empty(2)),
):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
"""
    out, _ = record(source, tmp_path)
    assert out.splitlines() == [
        "[2. 2. 2.] 6.0",
        "AxisError: axis 2 is out of bounds for array of dimension 2",
        "AxisError: axis -3 is out of bounds for array of dimension 2",
        "ValueError: duplicate value in 'axis'",
        "TypeError: 'float' object cannot be interpreted as an integer",
        "ValueError: Out shape is mismatched",
    ]


def test_a_reduction_folds_in_the_type_of_its_result(tmp_path: Path) -> None:
    source = """import cupy as cp
x = cp.full(10, 0.1, cp.float32)
total = cp.ReductionKernel("float32 x", "float64 y", "x", "a + b", "y = a", "0", "total")
print(total(x).item() == 10 * float(x[0]))
short = cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a / 2", "0", "short", reduce_type="unsigned char")
wide = cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a / 2", "0", "wide", reduce_type="long long")
bytes = cp.full(4, 200, cp.uint8)
print(short(bytes), wide(bytes), wide(cp.full(4, 60, cp.uint8)))
count = cp.ReductionKernel("T x", "int32 n", "x > 2 ? 1.9 : 0.9", "a + b", "n = a", "0", "count")
print(count(cp.arange(5.0)))
"""
    out, _ = record(source, tmp_path)
    assert out == f"True\n{800 % 256 // 2} {400 % 256} {120}\n2\n"


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


def test_branches_that_give_back_unlike_types(tmp_path: Path) -> None:
    source = """import cupy as cp
def step(x):
    if x > 2:
        return x * 0.5
    return -1
def clamped(x):
    if x > 2:
        return 2.0
    return x if x > 0 else 0
for function, values in ((step, cp.arange(4)), (clamped, cp.arange(4)), (clamped, cp.arange(4.0)), (step, cp.arange(2))):
    try:
        print(cp.vectorize(function)(values))
    except ValueError as error:
        print(error)
"""
    out, _ = record(source, tmp_path)
    unlike = "Failed to infer the return type: "
    assert out == f"{unlike}int64 or float64\n{unlike}float64 or int64\n[0. 1. 2. 2.]\n[-1 -1]\n"


def test_what_is_prepared_before_the_loop(tmp_path: Path) -> None:
    source = """import cupy as cp
ahead = cp.ElementwiseKernel("T x, int32 n", "T y", "y = x * scale", "ahead", loop_prep="const double scale = 1.0 / n;")
print(ahead(cp.arange(3.0), 2))
ahead = cp.ElementwiseKernel("T x, int32 n", "T y", "y = x * scale", "ahead", loop_prep="const double scale { 1.0 / n }")
print(ahead(cp.arange(3.0), 2))
after = cp.ElementwiseKernel("T x", "T y", "y = x", "after", after_loop="y = 0;")
try:
    after(cp.arange(3.0))
except NotImplementedError as error:
    print("`after_loop` is not imitated" in str(error))
"""
    out, _ = record(source, tmp_path)
    assert out == "[0.  0.5 1. ]\n[0.  0.5 1. ]\nTrue\n"


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


def test_what_a_fused_kernel_computes_on_the_way_takes_no_memory(tmp_path: Path) -> None:
    source = """import cupy as cp
@cp.fuse()
def f(x, y): return x + (x - y) * cp.exp(-y)
x = cp.ones(1000); y = cp.ones(1000)
for _ in range(3): y = f(x, y)
pool = cp.get_default_memory_pool()
print(pool.used_bytes(), pool.total_bytes())
del y
print(pool.used_bytes())
"""
    out, workload = record(source, tmp_path)
    assert out == "16384 24576\n8192\n"
    assert workload["program"]["device_peak_bytes"] == 24_576


def test_kernels_take_no_longer_than_numpy_does(tmp_path: Path) -> None:
    source = """import cupy as cp
add = cp.ElementwiseKernel("T x, T y, T a", "T z", "z = a * x + y * y", "add")
norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
x = cp.ones(30_000, cp.float32); y = cp.ones_like(x); a = cp.float32(0.5)
for _ in range(300):
    add(x, y, a)
    a * x + y * y
    norm(x)
    cp.sqrt((x * x).sum())
"""
    _, workload = record(source, tmp_path)
    took = dict.fromkeys((6, 7, 8, 9), 0)
    for entry in workload["ops"]:
        line = workload["sites"][entry["site"]]["line"]
        took[line] = took.get(line, 0) + entry["cpu_ns"]
    assert took[6] < 6 * took[7] and took[8] < 6 * took[9]
    assert workload["program"]["peak_bytes"] < 800_000  # no numbers of elements are made that no kernel asks for
    assert {entry["name"].split(".")[0] for entry in workload["ops"]} == {"cupy"}
    assert not workload.get("unseen")


def test_kernels_with_branches_are_told_of(tmp_path: Path) -> None:
    source = """import cupy as cp
k = cp.ElementwiseKernel("T x", "T y", "y = x; for (int k = 0; k < 3; k++) y *= x;", "cube")
print(k(cp.full(2, 2.0)), k(cp.full(2, 2.0)))
"""
    out, workload = record(source, tmp_path)
    assert out == "[16. 16.] [16. 16.]\n"
    (told,) = workload["unseen"]
    assert told["reason"] == "kernel-by-numpy" and "`cube` has branches or loops" in told["text"]


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


def test_what_is_known_of_a_cuda_kernel(tmp_path: Path) -> None:
    source = RAW + """import breakeven
module = cp.RawModule(code=code, options=("-std=c++17",), enable_cooperative_groups=True)
kernel = module.get_function("saxpy")
print(kernel.options, kernel.backend, kernel.enable_cooperative_groups, kernel.max_threads_per_block, kernel.binary_version)
print(kernel.max_dynamic_shared_size_bytes, saxpy.file_path, module.name_expressions)
def tried(call):
    try:
        print(call())
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
tried(lambda: kernel.num_regs)
tried(lambda: kernel.attributes["num_regs"])
tried(lambda: cp.RawKernel(code, "saxpy", no_such_option=1))
with breakeven.kernel("saxpy", flops=2000, bytes=12_000):
    tried(lambda: kernel((4,), (256,), (x, x, cp.float32(2), out), shared_mem=60_000))
    tried(lambda: kernel((1, 70_000), (1,), (x, x, cp.float32(2), out)))
    tried(lambda: kernel((1,), (1, 1, 128), (x, x, cp.float32(2), out)))
    kernel.max_dynamic_shared_size_bytes = 64 * 1024
    tried(lambda: kernel((4,), (256,), (x, x, cp.float32(2), out), shared_mem=60_000))
"""
    out, _ = record(source, tmp_path)
    unknown = (
        "NotImplementedError: breakeven's stand-in for cupy does not compile kernel 'saxpy': its registers and memory "
        "are "
        "not known"
    )
    lines = out.splitlines()
    assert lines[:4] == ["('-std=c++17',) nvrtc True 1024 80", "49152 None None", unknown, unknown]
    assert lines[4].startswith("TypeError: ") and lines[4].endswith("got an unexpected keyword argument "
        "'no_such_option'")
    assert lines[5:] == ["RuntimeError: CUDA_ERROR_INVALID_VALUE: invalid argument"] * 3 + ["None"]


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
square = "__device__ double square(const double* x) { return *x * *x; }"
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
loop = cp.ElementwiseKernel("T x", "T y", "again: goto again;", "loop")
try:
    loop(cp.ones(3))
except NotImplementedError as error:
    print(error)
"""
    out, _ = record(source, tmp_path)
    assert out.startswith("breakeven's stand-in for cupy cannot run kernel 'loop': `again :` is not imitated. "
                          "Describe it")


#: Parameters, results, C, a preamble, what it is called with, and what comes of it.
C = {
    "constants and casts": (
        "T x", "T y", "y = static_cast<T>(sin(x * M_PI_2)) + (int)2.7 + 0x10", "", "cp.arange(3.0)", [18.0, 19.0, 18.0],
    ),
    "complex numbers": (
        "complex64 z", "float32 y", "complex<float> w = z * complex<float>(0, 1); y = w.real() + 2 * w.imag();",
        "", "cp.array([1 + 2j], 'F')", [0.0],
    ),
    "the index": (
        "raw T x", "T y", "y = x[_ind.size() - 1 - i] + 10 * _ind.get()[0] + x.shape()[0]", "",
        "cp.arange(3.0), size=3",
        [5.0, 14.0, 23.0],
    ),
    "return": ("T x", "T y", "y = x; if (x > 1) return; for (;;) { y = -1; if (x < 5) return; }", "", "cp.arange(3)",
    [-1, -1, 2]),
    "switch": (
        "int32 x", "int32 y", "switch (x) { case 0: y = 10; break; case 1: case 2: y = 20; default: y += 1; }", "",
        "cp.arange(4, dtype='i'), cp.full(4, 100, 'i')", [10, 21, 21, 101],
    ),
    "continue in a switch": (
        "int32 x", "int32 y", "y = 0; for (int k = 0; k < 4; k++) { switch (k) { case 2: continue; } y += k; }", "",
        "cp.arange(1, dtype='i')", [4],
    ),
    "do": ("int32 x", "int32 y", "int s = 0; do { s += 2.7; } while (s < x); y = s;", "", "cp.arange(4, dtype='i')", [2,
    2, 2, 4]),
    "short whole numbers": ("uint8 a", "uint8 c", "c = (a + a) / 2", "", "cp.array([200], 'B')", [200]),
    "unsigned whole numbers": ("uint32 a", "bool c", "c = a > -1", "", "cp.array([3], 'I')", [False]),
    "whole numbers towards zero": ("int64 a", "int64 c", "c = a / 2 + a % 2 * 100", "", "cp.array([-3, 3])", [-101,
    101]),
    "functions and macros": (
        "T x", "T y", "y = f(x, 2) + half", """#define half (0.5)
            __device__ float square(float u) { return u * u; }
            template<typename T> __device__ T f(T x, int n) {
                T s = 0;
                for (int k = 0; k < n; k++) { if (x > 2) return -1; s += square(x); }
                return s;
            }""", "cp.arange(4, dtype='f')", [0.5, 2.5, 8.5, -0.5],
    ),
    "macros with parameters": (
        "T x", "T y", "y = plus(twice(x + 1), max(x, (T)2));",
        "#define twice(u) (2 * (u))\n#define plus(u, v) ((u) + twice(v))", "cp.arange(3.0)", [6.0, 8.0, 10.0],
    ),
    "a macro for a type": ("T x", "T y", "REAL half = x / 2; y = half;", "#define REAL float", "cp.arange(2.0)", [0.0,
    0.5]),
    "lines for the preprocessor": (
        "T x", "T y", """y = SQUARE(x) + STEP;
            #if defined(TWICE)
            y = 7;
            #elif !defined(TWICE)
            y *= 2;
            #endif
            """, """#ifndef STEP
            #define STEP 0.5  // of a cell
            #endif
            #define FAST
            #define SQUARE(u) \\
                ((u) * (u))
            #ifdef FAST
            #undef FAST
            #else
            template<int> nonsense(
            #endif""", "cp.arange(3.0)", [1.0, 3.0, 9.0],
    ),
    "conditions of the preprocessor": (
        "T x", "T y", """y = STEP * x;
            #if STEP % 2 == 0
            y += 100;
            #endif
            """, """#define LOW 1
            #define PLUS(u, v) ((u) * 10 + (v))
            #if LOW > 2 && !defined(STEP)
            #define STEP 2
            #elif PLUS(LOW, 2) == 12 && __CUDA_ARCH__ >= 600 && !UNKNOWN
            #define STEP 3
            #else
            #define STEP 4
            #endif""", "cp.arange(3.0)", [0.0, 3.0, 6.0],
    ),
    "names for types": (
        "T x", "T y", "typedef T number; number half = x / 2; whole n = half; y = n + (tiny)2.5;",
        "typedef unsigned long long int whole;\nusing tiny = signed char;", "cp.arange(4.0)", [2.0, 2.0, 3.0, 3.0],
    ),
    "numbers of a preamble": (
        "T x", "T y", "double b = 1; y = f(x) + a + b;",
        "__device__ const int a = 2.5;\n__constant__ double b = a * 5;\n__device__ double f(double u) { return "
        "u * b; }",
        "cp.arange(2.0)", [3.0, 13.0],
    ),
    "an array of its own": (
        "T x", "T y", """int m[2][3] = {{1, 2, 3}, {4, 5, 6}}; T a[] = {x, 1, 5}, b[3]; m[1][2] += 10;
            for (int j = 0; j < 3; ++j) b[j] = a[2 - j];
            if (x > 1) b[(int)x - 1] = 100;
            y = m[1][2] + m[(int)x % 2][0] + b[0] + b[1] + b[2];""",
        "", "cp.arange(4.0)", [16 + 1 + 6.0, 16 + 4 + 7.0, 16 + 1 + 5 + 100 + 2.0, 16 + 4 + 5 + 1 + 100.0],
    ),
    "functions that change what they are given": (
        "T x", "T y", "T a[3] = {3, x, 2}, s, c; sorted(a); both(x, &s, c); y = a[0] + 10 * a[1] + 100 * a[2] + "
                      "last(&a[1]) + s + c;",
        """template<typename T> __device__ void exchange(T& u, T& v) { T t = u; u = v; v = t; }
            __device__ void sorted(double* __restrict__ a) {
                if (a[0] > a[1]) exchange(a[0], a[1]);
                if (a[1] > a[2]) exchange(a[1], a[2]);
                if (a[0] > a[1]) exchange(a[0], a[1]);
            }
            __device__ void both(double t, double* s, double& c) { if (t < 1) return; *s = t * t * 1000; c = 10000; }
            __device__ double last(const double part[2]) { return part[1] * 1e5; }""",
        "cp.array([0.0, 1, 2, 5])", [300320.0, 311321.0, 314322.0, 535532.0],
    ),
    "a table of the preamble": (
        "T x", "T y", "y = of(c, x);",
        "__constant__ double c[3] = {1, 2, 3};\n__device__ double of(const double* c, double t) { return c[0] + t * "
        "(c[1] + t * c[2]); }",
        "cp.arange(3.0)", [1.0, 6.0, 17.0],
    ),
    "functions of one name": (
        "T x", "T y", "y = f(x) + f((int)x) + f((short)x) + f(x, 1) + late(x) + more(x) + more(x, 010);", """
            __device__ double late(double u);
            __device__ double f(double u) { return u; }
            __device__ int f(int u) { return u * 10; }
            __device__ double f(double u, int v) { return u * 100 * v; }
            __device__ double late(double u) { return u * 1000; }
            __device__ double more(double u, double v = 2) { return u * v * 10000; }""", "cp.arange(3.0)", [0.0, 101121.0, 202242.0],
    ),
    "templates that are told": (
        "T x", "T y", "y = f<3>(x) + g<double>(x) + g<float, 2>(x / 3) + h<int>(x / 2) + h(x / 2);", """
            template<int N> __device__ double f(double u) { double a[N] = {u}; return a[0] * N; }
            template<typename U, int N = 4> __device__ U g(U u) { U s = 0; for (int k = 0; k < N; k++) s += u; return s; }
            template<class U> __device__ U h(U u) { return u; }""", "cp.arange(4.0)",
        [0.0, 3 + 4 + float(np.float32(1 / 3) * 2) + 0.5, 6 + 8 + float(np.float32(2 / 3) * 2) + 2,
        9 + 12 + 2 + 1 + 1.5],
    ),
    "the next element": (
        "T x", "T y", """y = 0; for (int j = 0; j < 4; j++) { if (j == 2) continue; y += j; }
            if (x == 3 or not (x < 4 and x > 0)) continue;
            switch ((int)x) { case 1: continue; default: break; } y = -y;""", "", "cp.arange(5.0)", [4.0, 4.0, -4.0, 4.0, 4.0],
    ),
    "what complex numbers are made of": (
        "T x", "T y", "complex<double> z = thrust::polar(x, M_PI); y = z.real() + cyl_bessel_i0(0.0);", "",
        "cp.arange(2.0)",
        [1.0, 0.0],
    ),
    "values in brackets": (
        "T x", "T y", "complex<double> j(0., 1.); int two(2.7); y = (j * x).imag() + two;", "", "cp.arange(3.0)", [2.0,
        3.0, 4.0],
    ),
    "values in braces": (
        "T x", "T y", "const T half{x / T{2}}; int z {}; T a[2] {half, 1}; y = a[0] + z + a[1];", "", "cp.arange(3.0)",
        [1.0, 1.5, 2.0],
    ),
    "names of a block's own": (
        "T x", "T y", """T t = 1; y = 0; { T t = x; t += 1; } if (x > 1) { T y = 7; y += t; }
            for (int i = 0; i < 2; i++) { int k = i; for (int i = 5; i < 6; i++) y += i; y += k + i; }
            y += 100 * i + t;""", "", "cp.arange(3.0)", [13.0, 113.0, 213.0],
    ),
    "names that are types already": (
        "uint64 x", "uint64 y", "uint64_t long_one = 1; int const two = 2; y = (x - long_one) / 18446744073709551615 "
                                "+ two;",
        "typedef unsigned long long uint64_t;", "cp.array([0, 1], 'Q')", [3, 2],
    ),
    "what lies below in a normal distribution": (
        "T x", "T y", "y = rint(1e6 * (erfinv(x) + erfcinv(x) + normcdfinv(x) + erf(x) + tgamma(x)));", "",
        "cp.array([0.25, 0.5])", [4266178.0, 3246826.0],
    ),
    "auto": ("T x", "T y", "const auto half = x / 2; y = half;", "", "cp.arange(2.0)", [0.0, 0.5]),
    "a sine and a cosine": (
        "T x", "T y", "T s, c; sincos(x, &s, &c); y = s * s + c * c", "", "cp.zeros(2)", [1.0, 1.0],
    ),
    "a place in several dims": (
        "raw T x, int32 n", "raw T y", "ptrdiff_t from[] = {i % n, i / n}; int to[1]; to[0] = i; y[to] = x[from] + "
                                       "x.strides()[1];",
        "", "cp.arange(6.0).reshape(2, 3), 2, cp.empty(6), size=6", [8.0, 11.0, 9.0, 12.0, 10.0, 13.0],
    ),
    "a view": (
        "T x, raw T y", "T z", "z = y[i]", "", "cp.zeros(2), cp.arange(4.0)[::2]", [0.0, 2.0],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", C)
def test_c(case: str, tmp_path: Path) -> None:
    into, made, code, preamble, given, expected = C[case]
    source = f"""import cupy as cp
kernel = cp.ElementwiseKernel({into!r}, {made!r}, {code!r}, "kernel", preamble={preamble!r})
print(kernel({given}).tolist())
"""
    out, _ = record(source, tmp_path)
    assert out == f"{expected}\n"


VOID = """__device__ void nothing(double t) {}
__device__ double more(double &t) { t += 1; return t; }
__device__ double times(double t, int n = 2) { return n * t; }
__device__ double times(int t, int n = 3) { return n * t; }
__device__ double several(int t) { return t; }
__device__ double several(unsigned int t) { return t; }"""


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("T a[2] = {x, x}; y = a;", "an array where a number is expected"),
        ("T a[2]; T *p = a; y = p[0];", "`*` begins a statement that"),
        ("T a[2] = {x, 1}; atomicAdd(&a[0], 1.0); y = a[0];", "an atomic change of `a`, which no other thread has,"),
        ("__shared__ T a[2]; y = x;", "`__shared__ T`"),
        ("y = several((long long)x);", "the function `several`, of which there are 2,"),
        ("if (x > 0) break; y = x;", "`break` outside of a loop"),
        ("T a = x; y = x > 0 ? more(a) : a;", "`more`, which may change what it is given, behind a condition"),
        ("T a = x; y = x > 0 && more(a) > 0;", "`more`, which may change what it is given, behind a condition"),
        ("y = times(x);", "`times`, of which 2 may be called with 1,"),
        ("y = nothing(x);", "nothing where a number is expected"),
    ],
)
def test_what_of_arrays_and_pointers_is_not_imitated_says_so(code: str, why: str, tmp_path: Path) -> None:
    source = f"""import cupy as cp
kernel = cp.ElementwiseKernel("T x", "T y", {code!r}, "kernel", preamble={VOID!r})
try:
    kernel(cp.ones(3))
except NotImplementedError as error:
    print(error)
"""
    out, _ = record(source, tmp_path)
    assert out.startswith(f"breakeven's stand-in for cupy cannot run kernel 'kernel': {why} is not imitated. Describe "
                          f"it")


def test_macros_by_an_option(tmp_path: Path) -> None:
    source = """import cupy as cp
x = cp.arange(3.0)
print(cp.ElementwiseKernel("T x", "T y", "y = N * x + B", "k", options=("-DN=5", "-D", "B"))(x))
print(cp.ReductionKernel("T x", "T y", "N * x", "a + b", "y = a", "0", "k", options=("-std=c++17", "-DN=5"))(x))
"""
    out, _ = record(source, tmp_path)
    assert out == "[ 1.  6. 11.]\n15.0\n"


def test_what_a_kernel_puts_into_a_view_is_there(tmp_path: Path) -> None:
    source = """import cupy as cp
y = cp.zeros((2, 4))
cp.ElementwiseKernel("T x", "raw T y", "y[i] = x", "put")(cp.arange(1.0, 5.0), y[:, ::2])
cp.ElementwiseKernel("T x", "raw T y", "atomicAdd(&(y[i]), x)", "add")(cp.ones(4), y[:, ::2])
print(y.ravel())
"""
    out, _ = record(source, tmp_path)
    assert out == "[2. 0. 3. 0. 4. 0. 5. 0.]\n"


def test_a_reduction_with_a_function(tmp_path: Path) -> None:
    source = """import cupy as cp
mean = cp.ReductionKernel("T x", "float64 y", "square(x)", "a + b", "y = a / _in_ind.size() * _out_ind.size()", "0", "mean",
    preamble="template<typename T> __device__ T square(T x) { return x * x; }")
print(mean(cp.arange(6.0).reshape(2, 3), axis=1).tolist())
"""
    out, _ = record(source, tmp_path)
    assert out == f"{[5 / 3, 50 / 3]}\n"


@pytest.mark.parametrize("wrong", [-1, float("nan"), float("inf")])
def test_amounts_are_checked(wrong: float) -> None:
    with pytest.raises(ValueError, match="not a number from 0 on"):
        breakeven.kernel("k", flops=wrong, bytes=1)
    with pytest.raises(ValueError, match="by its name"):
        breakeven.kernel("", flops=1, bytes=1)
    assert kernel.described("k") is None


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


def test_long_loops_lose_no_memory_of_sight(tmp_path: Path) -> None:
    source = """import cupy as cp
code = "T s = 0; for (int k = 0; k < 2000; k++) s += x * 0.5f; y = s;"
print(cp.ElementwiseKernel("T x", "T y", code, "long")(cp.ones(5000, cp.float32))[0])
"""
    out, workload = record(source, tmp_path)
    assert out == "1000.0\n"
    assert [told["reason"] for told in workload["unseen"]] == ["kernel-by-numpy"]


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


def test_what_a_vectorized_function_gives_is_of_one_type(tmp_path: Path) -> None:
    source = """import cupy as cp
x = cp.array([-1.0, 2.5, 3.0], cp.float32)
def told(function, *args):
    found = cp.vectorize(function)(*args)
    print(found, found.dtype)
told(lambda x: x * 2 if x > 0 else 0, x)
told(lambda x, y: x + y, x, 3)
told(lambda x: 1 if x > 0 else 0, x)
told(lambda x: x + 250, cp.arange(4, 8, dtype=cp.uint8))
told(lambda x: x + 1, x[:0])
"""
    out, _ = record(source, tmp_path)
    assert out.splitlines() == [
        "[0. 5. 6.] float32", "[2.  5.5 6. ] float64", "[0 1 1] int64", "[254 255   0   1] uint8", "[] float32",
    ]  # fmt: skip
