"""What a CuPy program copies, launches and waits for, to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from cupy_running import copied, device, estimate, note, record

RECORDERS = pytest.mark.parametrize("recorder", ["native", "ast"])
EXAMPLE = Path(__file__).parents[2] / "examples" / "cupy_matmul.py"


@RECORDERS
def test_the_classic(recorder: str, tmp_path: Path) -> None:
    out, workload = record(EXAMPLE.read_text(), tmp_path, recorder)
    assert out == "same as NumPy: True\n"
    answer = estimate(workload)
    seen = answer["workload"]
    assert (seen["h2d_copies"], seen["h2d_bytes"]) == (2, 2 * 32_000_000)
    assert (seen["d2h_copies"], seen["d2h_bytes"]) == (1, 32_000_000)
    assert (seen["launches"], seen["synchronisations"]) == (1, 1)
    assert seen["peak_bytes"] == 3 * 32_000_000
    assert answer["estimates"][0]["policy"] == "as-written"
    (product,) = [entry for entry in workload["ops"] if entry["name"] == "cupy.dot"]
    assert product["op"]["matmul"] == {"m": 2000, "n": 2000, "k": 2000, "batch": 1, "bias": False}
    span = note(answer, "timed-span")
    assert span is not None and "leaves out the copies (64 MB to the GPU, 32 MB back)" in span
    assert "includes set-up at first use" in span
    assert note(answer, "timer-without-wait") is None
    assert note(answer, "stand-in") is not None and note(answer, "as-written") is not None


@RECORDERS
def test_each_op_is_recorded_once(recorder: str, tmp_path: Path) -> None:
    source = """import cupy as cp
a = cp.ones((10, 10))
b = a @ a + 1
c = cp.exp(b).sum(axis=0)
a[2:4] = 0
d = c[c > 1]
"""
    _, workload = record(source, tmp_path, recorder)
    assert all(entry["device"] == "cuda:0" for entry in workload["ops"])
    assert device(workload) == {
        "cupy.ones": 1, "cupy.matmul": 1, "cupy.add": 1, "cupy.exp": 1, "cupy.ndarray.sum": 1, "cupy.greater": 1,
        "cupy.ndarray.__setitem__": 1, "cupy.extract": 1,
        "cupy.ndarray.item": 1,  # how many are greater
    }  # fmt: skip
    assert {workload["sites"][entry["site"]]["line"] for entry in workload["ops"]} == {2, 3, 4, 5, 6}


@RECORDERS
def test_numpys_functions_on_device_arrays_run_on_the_device(recorder: str, tmp_path: Path) -> None:
    source = """import numpy as np
import cupy as cp
a = cp.ones((4, 4))
print(type(np.sum(a)).__module__, type(np.exp(a)).__module__, type(np.concatenate([a, a])).__module__)
print(float(np.linalg.norm(a)))
"""
    out, workload = record(source, tmp_path, recorder)
    assert out == "cupy cupy cupy\n4.0\n"
    assert [entry["name"] for entry in workload["ops"] if entry.get("device") is None] == []


def test_a_clock_that_does_not_wait(tmp_path: Path) -> None:
    source = """import time
import cupy as cp
a = cp.ones((500, 500))
start = time.perf_counter()
b = a @ a
spent = time.perf_counter() - start
print(float(b[0, 0]))
"""
    _, workload = record(source, tmp_path)
    text = note(estimate(workload), "timer-without-wait")
    assert text is not None and "script.py:4–6" in text


@RECORDERS
def test_what_scipy_calls_within_a_call_runs_on_the_device(recorder: str, tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import numpy as np
import cupy as cp
import scipy.ndimage
from cupyx.scipy import ndimage, signal, sparse
image = cp.ones((30, 30))
ndimage.grey_opening(image, 3)
ndimage.white_tophat(image, 3)
signal.wiener(image, 3)
sparse.csr_matrix(cp.eye(20)).sum(axis=0)
scipy.ndimage.grey_opening(np.ones((8, 8)), 3)
"""
    _, workload = record(source, tmp_path, recorder)
    seen = device(workload)
    inside = dict.fromkeys(("ndimage.grey_erosion", "ndimage.grey_dilation", "signal.correlate"), 2)
    inside |= {"ndimage.minimum_filter1d": None}
    assert {name: seen.get(f"cupyx.scipy.{name}") for name in inside} == inside
    assert any(name.endswith("_matvec") for name in seen)
    host = [entry["name"] for entry in workload["ops"] if entry.get("device") is None]
    assert [name for name in host if name.startswith("scipy.")] == ["scipy.ndimage.grey_erosion",
        "scipy.ndimage.grey_dilation"]


def test_memory_by_its_address_is_the_devices(tmp_path: Path) -> None:
    source = """import cupy as cp
memory = cp.cuda.alloc(4096)
memory.memset(0, 4096)
"""
    _, workload = record(source, tmp_path)
    (filled,) = workload["ops"]
    assert filled["device"] == "cuda:0" and filled["op"]["copy"]["n"] == 4096


def test_hooks_on_memory(tmp_path: Path) -> None:
    source = """import re, sys
import cupy as cp
from cupy.cuda import memory_hooks
def make():
    return cp.zeros(1000)
hook = memory_hooks.LineProfileHook()
with hook:
    a = make() + 1
    b = make()
cp.ones(3)
hook.print_report()
class Counting(cp.cuda.MemoryHook):
    name = "Counting"
    total = 0
    def malloc_postprocess(self, **told):
        self.total += told["mem_size"]
class Masked:
    def write(self, text): sys.stdout.write(re.sub("[0-9]{6,}|0x[0-9a-f]+", "P", text))
    def flush(self): pass
with Counting() as counting, memory_hooks.DebugPrintHook(Masked()):
    c = cp.zeros(200)
    del c
print(counting.total)
"""
    out, _ = record(source, tmp_path)
    script = tmp_path / "script.py"
    assert out.splitlines() == [
        "_root (24.00KB, 16.00KB)",
        f"  {script}:8:<module> (16.00KB, 16.00KB)",
        f"    {script}:5:make (8.00KB, 8.00KB)",
        f"  {script}:9:<module> (8.00KB, 0.00B)",
        f"    {script}:5:make (8.00KB, 0.00B)",
        '{"hook":"alloc","device_id":0,"mem_size":2048,"mem_ptr":P}',
        '{"hook":"malloc","device_id":0,"size":1600,"mem_size":2048,"mem_ptr":P,"pmem_id":"P"}',
        '{"hook":"free","device_id":0,"mem_size":2048,"mem_ptr":P,"pmem_id":"P"}',
        "2048",
    ]


def test_ranges_that_wait(tmp_path: Path) -> None:
    source = """import cupy as cp
from cupyx.profiler import time_range
@time_range(sync=True)
def step():
    return cp.ones(4) + 1
for _ in range(3):
    step()
with time_range("free", color_id=0):
    step()
for arguments in ((), ("both", 1, 2)):
    try:
        with time_range(*arguments):
            pass
    except ValueError as error:
        print(error)
"""
    out, workload = record(source, tmp_path)
    assert out.splitlines() == [
        "when used as a context manager, the message argument cannot be None",
        "Only either color_id or argb_color can be specified",
    ]
    assert estimate(workload)["workload"]["synchronisations"] == 8


def test_values_read_in_a_loop_are_copies(tmp_path: Path) -> None:
    source = """import cupy as cp
a = cp.arange(10.0)
total = 0.0
for i in range(20):
    total += a.sum().item() + float(a[i % 10])
for i in range(5):
    cp.asnumpy(a)
print(total)
"""
    out, workload = record(source, tmp_path)
    assert out == "990.0\n"
    seen = estimate(workload)["workload"]
    assert (seen["d2h_copies"], seen["d2h_bytes"]) == (45, 40 * 8 + 5 * 80)
    assert (seen["h2d_copies"], seen["synchronisations"]) == (0, 0)


def test_ends_of_slices_are_read_on_the_host(tmp_path: Path) -> None:
    source = """import cupy as cp
x = cp.arange(10)
n = cp.argmax(x > 4)
print(x[:n], x[n:].size, x[::n].size)
x[1:n] = 0
print(x)
"""
    out, workload = record(source, tmp_path)
    assert out == "[0 1 2 3 4] 5 2\n[0 0 0 0 0 5 6 7 8 9]\n"
    assert copied(workload)["d2h"] == (2, 40 + 80)
    reads = [entry for entry in workload["ops"] if "host_read" in entry["op"]]
    assert sum(entry["count"] for entry in reads) == 4


def test_pinned_copies_in_another_stream_go_beside_kernels(tmp_path: Path) -> None:
    source = """import numpy as np
import cupy as cp
import cupyx
host = cupyx.empty_pinned((1000, 1000))
host[...] = 1
raw = cp.cuda.alloc_pinned_memory(80)
small = np.frombuffer(raw, np.float64, 10)
stream = cp.cuda.Stream(non_blocking=True)
a = cp.ones((1000, 1000))
with stream:
    b = cp.empty((1000, 1000))
    b.set(host)
    c = cp.asarray(small)
d = a @ a
stream.synchronize()
back = b.get(stream=stream, out=host)
cp.cuda.Device(0).synchronize()
"""
    _, workload = record(source, tmp_path)
    (into,) = [entry for entry in workload["ops"] if entry["name"] == "cupy.ndarray.set"]
    assert into["op"]["transfer"] == {"direction": "h2d", "bytes": 8_000_000, "pinned": True, "asynchronous": True}
    assert into["stream"] == 1
    assert copied(workload) == {"h2d": (2, 8_000_080), "d2h": (1, 8_000_000)}
    waits = [entry for entry in workload["ops"] if entry["op"] == "synchronise"]
    assert [entry.get("stream") for entry in waits] == [1, None]
    assert not any(entry["op"] == "stream_wait" for entry in workload["ops"])


def test_copies_back_are_waited_for_unless_the_script_says_otherwise(tmp_path: Path) -> None:
    source = """import cupy as cp, cupyx
a, stream = cp.ones(1000), cp.cuda.Stream(non_blocking=True)
locked = cupyx.empty_pinned(1000)
a.get(stream=stream, out=locked)
cp.asnumpy(a, stream=stream, out=locked)
a.get(stream=stream, out=locked, blocking=False)
"""
    _, workload = record(source, tmp_path)
    told = [
        (workload["sites"][entry["site"]]["line"], entry["stream"], entry["op"]["transfer"])
        for entry in workload["ops"] if "transfer" in entry["op"]
    ]  # fmt: skip
    back = {"direction": "d2h", "bytes": 8000, "pinned": True}
    assert told == [
        (4, 1, {**back, "asynchronous": False}), (5, 1, {**back, "asynchronous": False}),
        (6, 1, {**back, "asynchronous": True}),
    ]  # fmt: skip


def test_arrays_of_ordinary_memory_go_by_page_locked_memory_of_cupys(tmp_path: Path) -> None:
    source = """import numpy as np, cupy as cp
h = np.ones(1000)
cp.asarray(h), cp.array([1.0, 2.0]), cp.zeros(3)[[0, 1]]
cp.asarray(h, blocking=True)
cp.zeros(1000).set(h)
pool = cp.get_default_pinned_memory_pool()
print(pool.n_free_blocks(), pool.free_all_blocks(), pool.n_free_blocks())
"""
    out, workload = record(source, tmp_path)
    assert out == "2 None 0\n"
    told = [
        (workload["sites"][entry["site"]]["line"], entry["op"]["transfer"]["pinned"],
        entry["op"]["transfer"]["asynchronous"])
        for entry in workload["ops"] if "transfer" in entry["op"]
    ]  # fmt: skip
    assert sorted(told) == [(3, False, True)] * 3 + [(4, False, False), (5, False, False)]


def test_waits_for_a_stream_by_its_address(tmp_path: Path) -> None:
    source = """import cupy as cp
first, second = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
wait = cp.cuda.runtime.streamSynchronize
wait(second.ptr), wait(first.ptr), wait(0), wait(cp.cuda.Stream.null.ptr)
other = cp.cuda.ExternalStream(4096)
wait(4096), cp.cuda.ExternalStream(4096).synchronize()
"""
    _, workload = record(source, tmp_path)
    waits = [(entry["stream"], entry["count"]) for entry in workload["ops"] if entry["op"] == "synchronise"]
    assert waits == [(2, 1), (1, 1), (0, 2), (3, 1), (3, 1)]


def test_what_raises_for_singular_matrices_asks_how_it_went(tmp_path: Path) -> None:
    source = """import cupy as cp, cupyx
a, b = cp.eye(50) * 2, cp.ones(50)
def solved():
    return cp.linalg.solve(a, b), cp.linalg.inv(a), cp.linalg.cholesky(a), cp.linalg.qr(a, mode="r")
solved()
with cupyx.errstate(linalg="raise"):
    solved()
"""
    _, workload = record(source, tmp_path)
    asked = [entry for entry in workload["ops"] if "host_read" in entry["op"]]
    assert sum(entry["count"] for entry in asked) == 2 + 2 + 1 + 1
    assert {entry["op"]["host_read"]["bytes"] for entry in asked} == {1}
    assert device(workload)["cupy.not_equal"] == 6


def test_streams_that_block_wait_for_the_default_one(tmp_path: Path) -> None:
    source = """import cupy as cp
a = cp.ones(10)
with cp.cuda.Stream():
    b = a + 1
    b = b + 1
c = a + 1
c = c + 1
"""
    _, workload = record(source, tmp_path)
    names = {index: entry["op"] for index, entry in enumerate(workload["ops"])}
    waits = [entry.get("stream") for entry in workload["ops"] if entry["op"] == "stream_wait"]
    assert waits == [1, 0], names


def test_memory_of_the_device_is_counted_and_limited(tmp_path: Path) -> None:
    source = """import cupy as cp
pool = cp.get_default_memory_pool()
print(pool.used_bytes())
a = cp.zeros(1000)
b = a[:10]
print(pool.used_bytes())
del a
print(pool.used_bytes())
del b
print(pool.used_bytes(), pool.total_bytes())
pool.free_all_blocks()
print(pool.total_bytes())
pool.set_limit(size=1 << 20)
try:
    cp.zeros(1 << 20)
except cp.cuda.memory.OutOfMemoryError as error:
    print(error)
"""
    out, workload = record(source, tmp_path)
    assert out.splitlines() == [
        "0", "8192", "8192", "0 8192", "0",
        "Out of memory allocating 8,388,608 bytes (allocated so far: 0 bytes, limit set to: 1,048,576 bytes).",
    ]  # fmt: skip
    assert workload["program"]["device_peak_bytes"] == 8192


def test_a_crash_midway_keeps_what_was_seen(tmp_path: Path) -> None:
    source = "import cupy as cp\na = cp.ones(10)\nb = a + 1\nraise RuntimeError('midway')\n"
    _, workload = record(source, tmp_path, code=1)
    assert device(workload) == {"cupy.ones": 1, "cupy.add": 1}


def test_a_million_equal_calls_are_one_entry(tmp_path: Path) -> None:
    source = "import cupy as cp\na = cp.ones(10)\nfor _ in range(2000):\n    a = a + 1\n"
    _, workload = record(source, tmp_path)
    assert len(workload["ops"]) == 2 and len(workload["order"]) <= 3


def test_what_is_made_of_other_ops_is_recorded_as_those(tmp_path: Path, native: None) -> None:
    pytest.importorskip("scipy")
    source = """import cupy as cp
from cupyx.scipy.special import logsumexp
a = cp.ones((100, 100))
b = logsumexp(a)
"""
    _, workload = record(source, tmp_path)
    parts = [entry for entry in workload["ops"] if workload["sites"][entry["site"]]["line"] == 4]
    assert "cupy.exp" in {entry["name"] for entry in parts}
    assert {entry["device"] for entry in parts} == {"cuda:0"}
    assert estimate(workload)["workload"]["coverage"] == 1.0


@RECORDERS
def test_the_host_waits_to_be_told_how_large_a_result_is(recorder: str, tmp_path: Path) -> None:
    waits = """cp.nonzero(m)
cp.where(m)
cp.argwhere(m)
a[m]
a.__setitem__(m, 0.0)
cp.unique(i)
cp.repeat(a, i)
cp.bincount(i)
cp.histogram(a)
cp.linalg.svd(s)
cp.random.randint(0, 5, 10)
cp.average(a, weights=a)
cp.nanmax(a)"""
    goes_on = """cp.where(m, a, 0)
a[i]
cp.sort(a)
cp.repeat(a, 2)
cp.histogram(a, range=(0, 1))
cp.linalg.inv(s)
cp.allclose(a, a)
cp.isclose(a, a)
cp.average(a)
cp.gradient(a)
cp.isin(i, i)
cp.ElementwiseKernel("float64 x", "float64 y", "y = 2 * x", "twice")(a)"""
    source = f"""import cupy as cp
a, i, s = cp.random.rand(64), cp.arange(64) % 7, cp.eye(4)
m = a > 0.5
{waits}
{goes_on}
"""
    _, workload = record(source, tmp_path, recorder)
    reads = [entry for entry in workload["ops"] if "host_read" in entry["op"]]
    assert {entry["op"]["host_read"]["bytes"] for entry in reads} == {1, 8}  # a size, a truth value
    lines = source.splitlines()
    assert {lines[workload["sites"][entry["site"]]["line"] - 1] for entry in reads} == set(waits.splitlines())
    assert sum(entry["count"] for entry in reads) == len(waits.splitlines())


#: Calls of NumPy for which its CuPy port waits; the truth values of the last two are those that a script branches on.
WAITING = """np.nonzero(m)
np.where(m)
np.argwhere(m)
a[m]
a.__setitem__(m, 0.0)
np.unique(i)
np.bincount(i)
np.histogram(a)
np.linalg.svd(s)
np.random.randint(0, 5, 10)
np.nanmax(a)
np.allclose(a, a)
np.array_equal(a, a)"""
GOING_ON = """np.where(m, a, 0)
np.where(m, 1.0, 2.0)
a[i]
a.__setitem__(i, 0.0)
np.sort(a)
np.repeat(a, 2)
np.linalg.svd(np.ones((3, 4, 4)) * s)
np.linalg.inv(s)
np.isclose(a, a)
np.average(a)
np.gradient(a)
np.isin(i, i)"""


@RECORDERS
def test_numpys_calls_wait_where_cupys_do(recorder: str, tmp_path: Path) -> None:
    source = f"""import numpy as np
a, i, s = np.random.rand(64), np.arange(64) % 7, np.eye(4)
m = a > 0.5
{WAITING}
{GOING_ON}
"""
    _, workload = record(source, tmp_path, recorder)
    seen = estimate(workload)["workload"]
    told = len(WAITING.splitlines())
    assert (seen["d2h_copies"], seen["d2h_bytes"]) == (told, 8 * told)


def test_copies_between_addresses(tmp_path: Path) -> None:
    source = """import numpy as np
import cupy as cp
host = np.arange(100.0)
locked = np.frombuffer(cp.cuda.alloc_pinned_memory(800), np.float64, 100)
a = cp.zeros(100)
place = cp.cuda.alloc(800)
stream = cp.cuda.Stream(non_blocking=True)
a.data.copy_from_host(host.ctypes.data, 800)
place.copy_from_device(a.data + 80, 720)
a.data.copy_to_host_async(locked.ctypes.data, 800, stream)
stream.synchronize()
cp.cuda.runtime.memcpy(a.data.ptr, locked[50:].ctypes.data, 400, cp.cuda.runtime.memcpyHostToDevice)
b = cp.ndarray((90,), np.float64, place)
print(float(b[0]), float(a[0]), locked[99], place.mem.size)
"""
    out, workload = record(source, tmp_path)
    assert out == "10.0 50.0 99.0 1024\n"
    assert copied(workload) == {"h2d": (2, 1200), "d2d": (1, 720), "d2h": (1, 800)}
    (back,) = [entry["op"]["transfer"] for entry in workload["ops"] if "copy_to_host" in entry["name"]]
    assert back["pinned"] and back["asynchronous"]


def test_pools_of_the_programs_own(tmp_path: Path) -> None:
    source = """import cupy as cp
pool = cp.cuda.MemoryPool()
with cp.cuda.using_allocator(pool.malloc):
    a = cp.zeros(1000)
b = cp.zeros(100)
print(pool.used_bytes(), cp.get_default_memory_pool().used_bytes())
try:
    cp.zeros(10**15)
except cp.cuda.memory.OutOfMemoryError as error:
    print(error)
"""
    out, workload = record(source, tmp_path)
    assert out.splitlines()[0] == "8192 1024"
    assert out.splitlines()[1].startswith("Out of memory allocating 8,000,000,000,000,000 bytes (allocated so far: "
                                          "1,024")
    assert workload["program"]["device_peak_bytes"] == 9216


def test_what_calls_take_for_a_while_counts_at_the_peak(tmp_path: Path) -> None:
    source = """import sys
import cupy as cp
a = cp.ones(1 << 20)
b = {"sort": cp.sort, "argsort": cp.argsort, "fft": cp.fft.fft, "exp": cp.exp}[sys.argv[1]](a)
"""
    # what CuPy 14.2 held at most on an H200, the argument among it
    for name, most in (("sort", 25_370_112), ("argsort", 42_193_408), ("fft", 41_943_040), ("exp", 16_777_216)):
        folder = tmp_path / name
        folder.mkdir()
        _, workload = record(source, folder, arguments=(name,))
        assert workload["program"]["device_peak_bytes"] == pytest.approx(most, rel=0.05)


def test_what_makes_arrays_of_those_of_the_host_copies_them(tmp_path: Path) -> None:
    source = """import numpy as np, cupy as cp
h, H, a = np.arange(3.0), np.eye(3), cp.arange(3.0)
print(cp.diag(h).sum(), cp.diag(H, 1), cp.diag([1.0, 2.0]).shape, cp.diag(cp.diag(a)))
print(cp.tril(H).sum(), cp.triu(H).sum(), cp.vander(h).shape, cp.atleast_2d(h).shape,
      cp.atleast_2d([[1.0], [2.0]]).shape)
print(cp.vstack([h, a]).shape, cp.dstack([h, h]).shape, cp.hstack([1.0, 2.0]),
      cp.vstack([[1.0, 2.0], [3.0, 4.0]]).shape)
print(cp.shape(h), cp.ndim(H), cp.result_type(h, "f4"))
"""
    out, workload = record(source, tmp_path)
    assert out == (
        "3.0 [0. 0.] (2, 2) [0. 1. 2.]\n3.0 3.0 (3, 3) (1, 3) (2, 1)\n(2, 3) (1, 3, 2) [1. 2.] (2, 2)\n(3,) 2 float64\n"
    )
    seen = estimate(workload)["workload"]
    sent = [24, 16, 16, 72, 72, 24, 24, 16, 24, 24, 24, 16, 16]  # numbers go with the kernel that fills them in
    assert (seen["h2d_copies"], seen["h2d_bytes"]) == (len(sent), sum(sent))


def test_filters_copy_what_the_host_has(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import numpy as np, cupy as cp
from cupyx.scipy import ndimage
a, k, f = cp.ones((8, 8)), np.ones((3, 3)), np.ones((3, 3), bool)
print(ndimage.convolve(a, k).sum(), ndimage.correlate1d(a, k[0]).sum(), ndimage.correlate(a, weights=k).shape)
print(ndimage.median_filter(a, footprint=f).sum(), ndimage.binary_dilation(a > 0, f).sum(),
      ndimage.grey_opening(a, footprint=f).sum())
"""
    out, workload = record(source, tmp_path)
    assert out == "576.0 192.0 (8, 8)\n64.0 64 64.0\n"
    seen = estimate(workload)["workload"]
    assert (seen["h2d_copies"], seen["h2d_bytes"]) == (7, 72 + 24 + 72 + 4 * 9)  # `grey_opening` is two filters


def test_filters_read_what_they_need_on_the_host(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import numpy as np, cupy as cp
from cupyx.scipy import ndimage
a, host, gpu = cp.ones((8, 8)), np.array([1.0, 2.0]), cp.asarray(np.array([1.0, 2.0]))
f = np.ones((3, 3), int)
ndimage.gaussian_filter(a, host), ndimage.gaussian_filter(a, gpu), ndimage.uniform_filter(a, np.array([3, 3]))
ndimage.zoom(a, host, order=1), ndimage.shift(a, gpu, order=1)
ndimage.rank_filter(a, 1, footprint=f), ndimage.percentile_filter(a, 20, None, f), ndimage.maximum_filter(a, footprint=f.tolist())
ndimage.median_filter(a, 3)
ndimage.minimum(a, a.astype(int), np.array([1]))
for call in (
    lambda: ndimage.median_filter(a, footprint=0 * f), lambda: ndimage.sum(a, a, [1]), lambda: ndimage.sum(a, a.get()),
    lambda: ndimage.mean(a.get()),
):
    try:
        call()
    except (TypeError, ValueError) as error:
        print(error)
"""
    out, workload = record(source, tmp_path)
    assert out == (
        "all-zero footprint is not supported\nindex must be cupy.ndarray or a scalar int\nlabel must be cupy.ndarray\n"
        "input must be cupy.ndarray\n"
    )
    weights = 2 * (9 + 17) * 8  # of both calls, an axis each
    seen = estimate(workload)["workload"]
    assert copied(workload)["h2d"] == (1 + 4 + 2 + 3 + 1 + 1, 16 + weights + 16 + 16 + 3 * 9 + 8 + 9)
    # Two numbers twice; of footprints whether there is one, and how many or whether all; the array for the last
    # refusals. Of labels whether they are in range, which of them there are, and how many elements each has.
    assert (seen["d2h_copies"], seen["d2h_bytes"]) == (4 + 6 + 1 + 2 + 4,
        4 * 8 + 2 * (1 + 8) + 2 + 1 + 2 * 512 + 2 * 1 + 2 * 8)


def test_what_measurements_of_parts_read(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import numpy as np, cupy as cp
from cupyx.scipy import ndimage
a = cp.arange(64.0).reshape(8, 8)
labels, index = (cp.arange(64) // 16).reshape(8, 8), cp.arange(1, 4)
print(ndimage.find_objects(labels)[0])
print(ndimage.maximum(a, labels, index), ndimage.median(a, labels, index), *ndimage.minimum_position(a, labels, 2))
print(ndimage.labeled_comprehension(a, labels, index, lambda v: cp.sqrt(v).max() ** 2, float, 0).round(6))
print(list(ndimage.value_indices(labels)), *ndimage.extrema(a)[2], *ndimage.extrema(a)[3])
many = cp.arange(40) // 1
print(int(ndimage.minimum(cp.arange(40.0), many, many).sum()))
print(float(ndimage.generic_laplace(a, lambda x, axis, output, *_: cp.multiply(x, axis, output))[0, 1]))
"""
    out, workload = record(source, tmp_path)
    assert [" ".join(line.split()) for line in out.splitlines()] == [
        "(slice(2, 4, None), slice(0, 8, None))", "[31. 47. 63.] [23.5 39.5 55.5] 4 0", "[31. 47. 63.]",
        "[0, 1, 2, 3] 0 0 7 7", "780", "1.0",
    ]  # fmt: skip
    reads: dict[int, int] = {}
    for entry in workload["ops"]:
        if "host_read" in entry["op"]:
            line = workload["sites"][entry["site"]]["line"]
            reads[line] = reads.get(line, 0) + entry["count"]
    assert reads[5] == 1  # the greatest label
    # labels in range, which there are, each part; elements, places, one of these
    assert reads[6] == 2 * (2 + 1 + 3) + 3 + 1
    assert reads[7] == 1 + 2 + 3 * 3  # whether labels are whole, two masks; of each part, where it begins and ends
    assert reads[8] == 2 + 2 * 4  # counts and their places; both extremes, and where they are
    assert copied(workload)["d2h"][0] >= 4  # boxes, order of labels, counts


def test_what_is_put_at_places_is_copied_in_the_type_of_the_array(tmp_path: Path) -> None:
    source = """import numpy as np, cupy as cp, cupyx
x, A, i = cp.zeros(6, cp.float32), cp.zeros((2, 2)), cp.array([0, 1])
x[i] = np.array([7.0, 8.0])
x[[2, 3]] = [5, 6]
x[x == 0] = [3.0, 4.0]
A[[0, 1], [0, 1]] = [1.0, 2.0]
cupyx.scatter_add(x, i, np.array([1.0, 1.0]))
print(x, A.ravel())
"""
    out, workload = record(source, tmp_path)
    assert out == "[8. 9. 5. 6. 3. 4.] [1. 0. 0. 2.]\n"
    seen = estimate(workload)["workload"]
    assert (seen["h2d_copies"], seen["h2d_bytes"]) == (9, 4 * 16 + 4 * 8 + 16)


def test_whether_all_are_close_takes_a_kernel_and_a_reduction(tmp_path: Path) -> None:
    source = "import cupy as cp\na = cp.ones(1 << 20)\nprint(bool(cp.allclose(a, a)), cp.allclose(a, a + 1))\n"
    out, workload = record(source, tmp_path)
    assert out == "True False\n"
    assert estimate(workload)["workload"]["launches"] == 1 + 3 + 1 + 3  # as a graph of CuPy 14.2 holds them


def test_arguments_that_functions_bring_to_the_device(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import numpy as np
import cupy as cp
from cupyx.scipy import ndimage
x, a, i = cp.arange(100.0), cp.ones((20, 30)), cp.arange(3)
print(cp.percentile(x, 90).round(3), cp.percentile(x, q=[25, 50]).shape, cp.percentile(cp.ones(3, cp.float32), 5).dtype
      == np.percentile(np.ones(3, np.float32), 5).dtype)
print(cp.histogram(x, bins=np.array([0.0, 50, 100]))[0], cp.histogram(x, 10)[0].shape)
print(cp.take(x, [0, 1]), cp.take(x, 2), cp.take(x, i), end=" ")
print(cp.delete(x[:4], [1, 2]), cp.append(x[:2], 7), cp.append(i, i).shape)
ndimage.shift(a, 1.5), ndimage.zoom(a, 2, order=1)
ndimage.rotate(a, 30.0, order=1), ndimage.affine_transform(a, cp.eye(2), order=1), ndimage.map_coordinates(a, cp.ones((2, 5)))
print(ndimage.label(a)[1], ndimage.label(a, np.ones((3, 3)))[1])
f = cp.zeros(4, cp.float32)
cp.put(f, [0, 2], 1.0), f.put(i, [2, 3, 4]), cp.put(f, i, f[:3])
print(f, cp.interp(cp.array([-1.0, 1.5]), x, x, left=-9.0), cp.interp(x[:1], x[:2], x[:2], 5.0, 6.0, period=4.0))
"""
    out, workload = record(source, tmp_path)
    assert out == (
        "89.1 (2,) True\n[50 50] (10,)\n[0. 1.] 2.0 [0. 1. 2.] [0. 3.] [0. 1. 7.] (6,)\n1 1\n[2. 3. 4. 0.] "
        "[-9.   1.5] [0.]\n"
    )
    seen = estimate(workload)["workload"]
    sent = [16, 24, 16, 16]  # splines: the shape for each axis; and how far
    sent += [32, 16, 16, 16, 16, 4 * 2 * 2, 8, 4 * 4 * 2, 8]  # a matrix, offsets, shapes; steps to neighbours
    sent += [16, 12, 16]  # a single number goes with the kernel that fills it in
    assert (seen["h2d_copies"], seen["h2d_bytes"]) == (len(sent) + 3 + 1, sum(sent) + 2 * 16 + 2 * 8 + 2 * 8)


def test_interpolators_and_filters_of_signals_bring_what_the_host_has(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import numpy as np
import cupy as cp
from cupyx.scipy import interpolate, signal
x, y = np.linspace(0, 1, 10), np.ones(10)
a, b = cp.asarray(x), cp.asarray(y)
for made in (
    interpolate.CubicSpline(x, y), interpolate.PchipInterpolator(a, y), interpolate.make_interp_spline(x, b),
    interpolate.RegularGridInterpolator((x,), b), interpolate.BSpline(np.arange(8.0), cp.ones(4), 3),
):
    made(x[:3, None])
interpolate.CubicSpline(a, b)(0.5)
signal.upfirdn([1.0, 1.0, 1.0], y), signal.filtfilt([1.0, 1.0], [2.0], a), signal.welch(y, nperseg=10), signal.detrend(y)
for call in (
    lambda: signal.sosfilt(np.ones((1, 6)), a), lambda: signal.lfilter([1.0], [1.0], y), lambda: signal.hilbert(y),
    lambda: interpolate.RegularGridInterpolator((x,), y),
):
    try:
        call()
    except TypeError as error:
        print(error)
"""
    out, workload = record(source, tmp_path)
    assert out == 4 * "Unsupported type <class 'numpy.ndarray'>\n"
    made = (2 + 1 + 1 + 1) * 80 + 64
    filtered = 24 + 80 + 16 + 8 + 80 + 80
    # What it is made of, and called with; the last brings its points before it refuses.
    assert copied(workload)["h2d"] == (2 + 6 + 5 + 6 + 1, 2 * 80 + made + 5 * 24 + filtered + 80)


def test_functions_that_bring_their_first_argument_to_the_device(tmp_path: Path) -> None:
    source = """import numpy as np
import cupy as cp
h, a = np.arange(3.0), cp.arange(3.0)
print(cp.unique(h), cp.append(h, a), cp.resize(h, 4), cp.cross(h, a), cp.einsum("i,i", a, h), cp.linspace(h, 4, 2).shape)
cp.place(a, h > 1, [7.0, 8.0])
print(a, cp.unwrap(h), cp.polyval(a, [1.0, 2.0]))
"""
    out, workload = record(source, tmp_path)
    assert out == "[0. 1. 2.] [0. 1. 2. 0. 1. 2.] [0. 1. 2. 0.] [0. 0. 0.] 5.0 (2, 3)\n[0. 1. 7.] [0. 1. 2.] [8. 9.]\n"
    assert copied(workload)["h2d"] == (6 + 2 + 2, 6 * 24 + 3 + 16 + 24 + 16)


def test_numbers_go_to_the_device_with_the_kernel_that_fills_them_in(tmp_path: Path) -> None:
    source = """import numpy as np, cupy as cp
a = cp.array(5.0), cp.asarray(np.float32(3)), cp.array(np.array(2))
print(*a)
cp.arange(4.0)[cp.array(1)]
x = cp.arange(6.0).reshape(2, 3)
x.set(np.ones((2, 3)))
"""
    out, workload = record(source, tmp_path)
    assert out == "5.0 3.0 2\n"
    assert copied(workload) == {"h2d": (1, 48), "d2h": (3, 20)}
    assert device(workload)["cupy.full"] == 4


def test_what_is_read_lies_as_the_host_has_it(tmp_path: Path) -> None:
    source = """import numpy as np, cupy as cp
a = cp.arange(12.0).reshape(3, 4)
a.get(), a.T.get(order="A"), a.T.get(order="F"), a.T.get(out=np.empty((4, 3), order="F"))  # as it lies
a.T.get(), a[:, ::2].get(), a.get(out=np.empty((3, 4), order="F"))  # by a kernel first
cp.zeros((0, 3)).get()  # nothing to read
"""
    _, workload = record(source, tmp_path)
    assert copied(workload)["d2h"] == (7, 6 * 96 + 48)
    assert device(workload)["cupy.copy"] == 3


def test_factorisations_of_scipy_bring_matrices_of_the_host(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import numpy as np
from cupyx.scipy import linalg
print(linalg.bandwidth(np.eye(3)), linalg.lu_factor(np.eye(3))[1].shape, linalg.lu(np.eye(2))[0].shape)
"""
    out, workload = record(source, tmp_path)
    assert out == "(0, 0) (3,) (2, 2)\n"
    assert copied(workload)["h2d"] == (3, 72 + 72 + 32)


def test_arrays_to_try_things_on_and_numbers_as_text_are_copied(tmp_path: Path) -> None:
    source = """import numpy as np, cupy as cp
from cupy import testing
a = testing.shaped_arange((2, 3))
print(a.dtype, a.tolist(), testing.shaped_reverse_arange((2,), np, "F"), testing.shaped_arange((3,), dtype=bool).dtype)
print(np.array_equal(testing.shaped_random((2, 3), dtype="d").get(), testing.shaped_random((2, 3), np, "d")))
print(cp.format_float_positional(a[0, 1]), cp.format_float_scientific(3.5))
"""
    out, workload = record(source, tmp_path)
    assert out.splitlines() == [
        "float32 [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] [2.+2.j 1.+1.j] bool",
        "True",
        "2. 3.5e+00",
    ]
    assert copied(workload) == {"h2d": (3, 24 + 3 + 48), "d2h": (3, 24 + 48 + 4)}


def test_what_a_handler_of_signals_raises_while_an_array_goes_reaches_the_script(tmp_path: Path) -> None:
    """Its memory is given back by none of Python's code, whose errors nobody gets then."""
    out, _ = record(
        """import ctypes, functools, signal, weakref
import cupy as cp
class Timeout(Exception):
    pass
def alarm(*_):
    raise Timeout
signal.signal(signal.SIGALRM, alarm)
pool = cp.get_default_memory_pool()
kept = cp.arange(8.0)
interrupts = ctypes.CDLL(None)["raise"]
for make in (lambda: cp.empty(16), lambda: kept + 1, lambda: cp.zeros(600)[2:], lambda: kept[1:]):
    array = make()
    # That the signal comes while the array goes: as C calls C, no handler of Python's runs before its memory is given
    # back.
    calls = map(interrupts, [signal.SIGALRM])
    ref = weakref.ref(array, functools.partial(next, calls))
    try:
        del array
        for _ in range(10):
            pass
        print("never interrupted")
    except Timeout:
        print("interrupted", pool.used_bytes())
""",
        tmp_path,
    )
    assert out.splitlines() == ["interrupted 512"] * 4
