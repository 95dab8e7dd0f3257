"""Whole programs as people write them: copies, bytes and waits as counted by hand, launches where the count is
plain."""

from __future__ import annotations

from pathlib import Path

import pytest
from cupy_running import estimate, record

#: What each copies to the device (copies, bytes), back (with values read), how often it waits, and its launches.
SCRIPTS = {
    "k-means": (
        (1, 128_000, 12, 32_000 + 160 + 10 * 4, 0, None),
        """import numpy as np, cupy as cp
rng = np.random.default_rng(0)
X = cp.asarray(rng.random((4000, 8), dtype=np.float32))
C = X[:5].copy()
for it in range(10):
    d = ((X[:, None, :] - C[None, :, :]) ** 2).sum(axis=2)
    lab = d.argmin(axis=1)
    onehot = (lab[:, None] == cp.arange(5)).astype(cp.float32)
    new = onehot.T @ X / cp.maximum(onehot.sum(axis=0), 1)[:, None]
    shift = cp.abs(new - C).max()
    C = new
    if float(shift) < 0: break
cp.asnumpy(lab); C.get()
""",
    ),
    "Monte Carlo": (
        (0, 0, 5, 5 * 8, 1, 5 * 10),
        """import cupy as cp
total = 0
for k in range(5):
    x = cp.random.rand(100000); y = cp.random.rand(100000)
    total += int((x * x + y * y < 1).sum())
cp.cuda.Stream.null.synchronize()
print(3.0 < 4 * total / 500000 < 3.3)
""",
    ),
    "heat by a kernel of one's own": (
        (1, 256 * 256 * 4, 1, 256 * 256 * 4, 1, 1 + 100),
        """import numpy as np, cupy as cp, breakeven
SRC = "extern 'C' __global__ void heat(const float* u, float* v, int n){ }"
@breakeven.kernel("heat", flops=lambda g, b, a: 6 * a[0].size, bytes=lambda g, b, a: 2 * a[0].nbytes)
def heat(u, v, n):
    v[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
k = cp.RawKernel(SRC, "heat")
h = np.zeros((256, 256), np.float32); h[128, 128] = 1
u = cp.asarray(h); v = cp.zeros_like(u)
for _ in range(100):
    k((16, 16), (16, 16), (u, v, np.int32(256)))
    u, v = v, u
cp.cuda.Device().synchronize()
r = cp.asnumpy(u)
print(r.sum() > 0.9)
""",
    ),
    "a filter by FFT": (
        (1, 262_144, 2, 262_144 + 8, 0, None),
        """import numpy as np, cupy as cp
s = np.random.default_rng(0).standard_normal(1 << 16).astype(np.float32)
d = cp.array(s)
F = cp.fft.rfft(d); f = cp.fft.rfftfreq(d.size, 1e-3)
F[f > 50] = 0
out = cp.fft.irfft(F).astype(cp.float32)
r = out.get()
print(r.shape)
""",
    ),
    "images": (
        (4 * 9, 4 * (262_144 + 2 * 17 * 8 + 2 * 2 * 3 * 8 + 4 * 2 * 2 + 4 * 2), 16, 4 * (262_144 + 3 * 8), 0, None),
        """import numpy as np, cupy as cp
from cupyx.scipy import ndimage as nd
rng = np.random.default_rng(0)
for k in range(4):
    frame = rng.integers(0, 255, (512, 512), dtype=np.uint8)
    g = cp.asarray(frame).astype(cp.float32)
    g = nd.gaussian_filter(g, 2)
    e = cp.hypot(nd.sobel(g, 0), nd.sobel(g, 1))
    m = e > e.mean()
    m = nd.binary_opening(m)
    lab, n = nd.label(m)
    sizes = cp.bincount(lab.ravel())
    keep = m.get()
""",
    ),
    "batches of small systems": (
        (2, 409_600 + 25_600, 2, 25_600 + 8, 0, None),
        """import numpy as np, cupy as cp
rng = np.random.default_rng(0)
A = cp.asarray(rng.random((200, 16, 16)) + 16 * np.eye(16)); b = cp.asarray(rng.random((200, 16, 1)))
x = cp.linalg.solve(A, b)
res = float(cp.abs(A @ x - b).max())
L = cp.linalg.cholesky(A @ A.transpose(0, 2, 1))
inv = cp.linalg.inv(A)
d = cp.linalg.det(A)
out = x.get()
print(res < 1e-9)
""",
    ),
    "streams": (
        (8, 3_200_000, 8, 3_200_000, 2, 8 * 2),
        """import numpy as np, cupy as cp, cupyx
N = 100000
src = [cupyx.empty_pinned(N, np.float32) for _ in range(8)]; dst = [cupyx.empty_pinned(N, np.float32) for _ in range(8)]
for s in src: s[:] = 2
streams = [cp.cuda.Stream(non_blocking=True) for _ in range(2)]
bufs = [cp.empty(N, cp.float32) for _ in range(2)]
for k in range(8):
    st = streams[k % 2]
    with st:
        bufs[k % 2].set(src[k], stream=st)
        y = cp.sqrt(bufs[k % 2]) * 3
        y.get(stream=st, out=dst[k], blocking=False)
for st in streams: st.synchronize()
print(all(abs(d[0] - 3 * 2 ** 0.5) < 1e-5 for d in dst))
""",
    ),
    "game of life": (
        # half of the neighbours are shifted along one axis alone
        (0, 0, 1, 4096, 0, 3 + 20 * (8 * 6 - 4 + 4) + 4 + 2 + 2 + 1),
        """import cupy as cp
cp.random.seed(1)
g = cp.random.random((64, 64)) < 0.3
for _ in range(20):
    n = sum(cp.roll(cp.roll(g.astype(cp.int8), i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
    g = (n == 3) | (g & (n == 2))
cp.roll(g, (1, -1), axis=(0, 1)); cp.roll(g, 1, axis=(1,)); cp.roll(g, 5); cp.roll(g, (64, 64), (0, 1))
print(cp.asnumpy(g).shape)
""",
    ),
    "bodies": (
        (2, 24_000, 11, 10 * 8 + 12_000, 10, 10 * 14),
        """import numpy as np, cupy as cp
rng = np.random.default_rng(0)
p = cp.asarray(rng.random((500, 3))); v = cp.asarray(np.zeros((500, 3)))
energy = []
a, b = cp.cuda.Event(), cp.cuda.Event()
for k in range(10):
    a.record()
    d = p[None] - p[:, None]
    r2 = (d * d).sum(-1) + 1e-3
    acc = (d * (r2 ** -1.5)[..., None]).sum(1)
    v += acc * 0.01; p += v * 0.01
    b.record(); b.synchronize()
    cp.cuda.get_elapsed_time(a, b)
    energy.append((0.5 * (v * v).sum()).item())
q = p.get()
""",
    ),
    "histograms": (
        (1, 4_000_000, 7, 3 * 8 + 800 + 8 + 80 + 404, 0, None),
        """import numpy as np, cupy as cp
x = cp.asarray(np.random.default_rng(0).random(1000000, dtype=np.float32))
h, e = cp.histogram(x, bins=100)
h2, e2 = cp.histogram(x, bins=100, range=(0, 1))
c = cp.bincount((x * 50).astype(cp.int32), minlength=50)
u, cnt = cp.unique((x * 10).astype(cp.int32), return_counts=True)
w = cp.zeros(50); cp.add.at(w, (x * 50).astype(cp.int32), x)
print(h.get().sum(), int(c.sum()), cnt.get().sum(), e.get().dtype)
""",
    ),
    "CPU and GPU by turns": (
        (13, 800_000 + 6 * 8_000_000 + 6 * 24, 18, 6 * (800_000 + 1 + 8), 0, None),
        """import numpy as np, cupy as cp
rng = np.random.default_rng(0)
w = cp.asarray(rng.random((1000, 100)))
best = 0
for k in range(6):
    x = rng.random((1000, 1000))
    y = cp.asarray(x) @ w
    xp = cp.get_array_module(y)
    z = xp.tanh(y)
    back = cp.asnumpy(z)
    best = np.argsort(back[:, 0])[-1]
    if z.max() > 5: break
    s = f"{z.mean():.3f}"
    t = cp.asarray([1.0, 2.0, best])
""",
    ),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_as_counted_by_hand(script: str, tmp_path: Path) -> None:
    (into, into_bytes, back, back_bytes, waits, launches), source = SCRIPTS[script]
    if "scipy" in source:
        pytest.importorskip("scipy")
    _, workload = record(source, tmp_path)
    seen = estimate(workload)["workload"]
    assert (seen["h2d_copies"], seen["h2d_bytes"]) == (into, into_bytes)
    assert (seen["d2h_copies"], seen["d2h_bytes"]) == (back, back_bytes)
    assert seen["synchronisations"] == waits
    assert launches is None or seen["launches"] == launches


def test_threads_take_of_one_run_what_stands_in_for_cupy_takes(tmp_path: Path) -> None:
    source = """import cupy as cp, threading, time
def work():
    x = cp.ones(1000)
    for i in range(1000):
        x = x * 1.0001 + cp.sqrt(x)
began = time.perf_counter()
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(time.perf_counter() - began)
"""
    out, workload = record(source, tmp_path)
    program = workload["program"]
    # Each waits for the others most of the time, also within the stand-in: all of that together is several runs.
    assert program["wall_ns"] - program["startup_ns"] > 0.1 * float(out) * 1e9


def test_what_a_program_gives_the_stand_in_to_call_is_the_programs_time(tmp_path: Path) -> None:
    source = """import cupy as cp, time
from cupyx.profiler import benchmark
x = cp.ones(1000)
def work():
    began = time.thread_time()  # what other programs take of it is taken off
    while time.thread_time() - began < 0.02: pass
    return x + 1
benchmark(work, n_repeat=4, n_warmup=1)
"""
    _, workload = record(source, tmp_path)
    (entry,) = (entry for entry in workload["ops"] if entry["name"] == "cupy.add")
    assert entry["count"] == 5 and entry["gap_ns"] >= 5 * 15e6


def test_what_the_stand_in_takes_for_a_kernel_of_the_programs_own_is_not_the_programs_time(tmp_path: Path) -> None:
    source = """import cupy as cp
from breakeven import _native
kernel = cp.ElementwiseKernel("float64 x", "float64 y", "y = 2 * x", "twice")
plain = type(kernel)._split
def slow(*args):
    until = _native.clock_ns() + 20_000_000
    while _native.clock_ns() < until: pass
    return plain(*args)
type(kernel)._split = slow
x = cp.ones(1000)
for _ in range(5): kernel(x)
"""
    _, workload = record(source, tmp_path)
    (entry,) = (entry for entry in workload["ops"] if entry["name"] == "cupy.ElementwiseKernel")
    assert entry["count"] == 5 and entry["gap_ns"] < 5 * 10e6


#: What takes time in the stand-in's functions, within what the program gives it and in imports.
TIMED = {
    "fused": """import cupy as cp
@cp.fuse()
def f(x, y): return 0.5 * x + y * y
x = cp.ones(200_000); y = cp.ones(200_000)
for _ in range(500): f(x, y)
""",
    "not fused": """import cupy as cp
x = cp.ones(200_000); y = cp.ones(200_000)
for _ in range(100): 0.5 * x + y * y
""",
    "nothing but an import": "import cupy as cp\nfloat(cp.ones(10)[0])\n",
    "vectorized": """import cupy as cp
f = cp.vectorize(lambda x: cp.exp(x) + 1)
for _ in range(5): f(cp.ones(300))
""",
    "own kernels": """import cupy as cp
k = cp.ElementwiseKernel("T x", "T y", "y = x * x", "k")
r = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "r")
for _ in range(20): k(cp.ones(100_000)); r(cp.ones(100_000))
""",
    "an import within a call": """import numpy as np, cupy as cp
def apply(row):
    import xml.dom.minidom, email.message, html.parser, unittest.mock
    return row * 2
np.apply_along_axis(apply, 1, np.ones((3, 3)))
""",
}


@pytest.mark.timed
@pytest.mark.parametrize("name", TIMED)
def test_nothing_takes_more_than_the_run(name: str, tmp_path: Path) -> None:
    _, workload = record(TIMED[name], tmp_path)
    program = workload["program"]
    taken = sum(entry["cpu_ns"] + entry["gap_ns"] for entry in workload["ops"])
    assert program["startup_ns"] + taken <= program["wall_ns"]


def test_what_is_fused_takes_its_time(tmp_path: Path) -> None:
    source = """import cupy as cp, time
@cp.fuse()
def f(x): return cp.exp(cp.exp(x))
x = cp.zeros(1_000_000)
f(x)
began = time.perf_counter()
for _ in range(10): f(x)
print(time.perf_counter() - began)
"""
    out, workload = record(source, tmp_path)
    entries = [entry for entry in workload["ops"] if entry["name"] == "cupy.fuse"]
    assert sum(entry["cpu_ns"] for entry in entries) > 0.5 * float(out) * 1e9


@pytest.mark.parametrize("name", ["breakeven", "importlib"])
def test_the_programs_folder_may_have_any_name(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    out, workload = record("import cupy as cp\nprint(int(cp.ones(3).sum()))\n", folder)
    assert out == "3\n" and estimate(workload)["estimates"]
