"""Figures that must come out of known scripts, to the digit, under each recorder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import running

RECORDERS = pytest.mark.parametrize("recorder", ["native", "ast"])


def record(source: str, recorder: str, folder: Path, code: int = 0) -> list[dict[str, Any]]:
    """The workloads of a script's processes."""
    script = folder / "script.py"
    script.write_text(source)
    outcome = running.traced(folder / "run", [str(script)], recorder, folder / "record")
    assert outcome.code == code, outcome.err.decode()
    return running.workloads(folder / "record")


def entries(workload: dict[str, Any], family: str) -> list[dict[str, Any]]:
    """Entries of one family."""
    return [entry for entry in workload["ops"] if family in (entry["op"], *entry["op"])]


@RECORDERS
def test_matrix_product(recorder: str, tmp_path: Path) -> None:
    (workload,) = record(
        "import numpy as np\na = np.ones((2000, 2000))\nb = np.ones((2000, 2000))\nc = a @ b\n", recorder, tmp_path
    )
    (product,) = entries(workload, "matmul")
    dims = product["op"]["matmul"]
    assert 2 * dims["m"] * dims["n"] * dims["k"] * dims.get("batch", 1) == 16_000_000_000
    assert product["dtype"] == "f64"
    assert product["read_bytes"] == 2 * 32_000_000
    assert product["written_bytes"] == 32_000_000
    assert workload["sites"][product["site"]]["line"] == 4
    assert workload["sites"][product["site"]]["text"] == "c = a @ b"


@RECORDERS
def test_a_fill_writes_every_element(recorder: str, tmp_path: Path) -> None:
    source = """import numpy as np
a = np.ones((30, 40))
b = np.full((30, 40), 2.0)
c = np.empty((30, 40))
np.copyto(c, 5.0)
np.copyto(c, a[0])
"""
    (workload,) = record(source, recorder, tmp_path)
    written = {
        workload["sites"][entry["site"]]["line"]: (*entry["op"]["copy"].values(), entry["written_bytes"])
        for entry in entries(workload, "copy")
        if entry["written_bytes"] > 8
    }
    assert written == {line: (1200, False, int(line == 6), 9600) for line in (2, 3, 5, 6)}


@RECORDERS
def test_operators_of_matrices_are_those_of_algebra(recorder: str, tmp_path: Path) -> None:
    source = """import numpy as np
m = np.asmatrix(np.ones((20, 20)))
v = m[:, :1]
m * v
2.0 * m
m *= m
m**3
np.multiply(m, m)
"""
    (workload,) = record(source, recorder, tmp_path)
    products = {}
    for entry in entries(workload, "matmul"):
        dims = entry["op"]["matmul"]
        line = workload["sites"][entry["site"]]["line"]
        products[line] = products.get(line, 0) + entry["count"] * dims["m"] * dims["n"] * dims["k"] * dims["batch"]
    assert products == {4: 400, 6: 8000, 7: 16000}
    (scaled,) = [entry for entry in entries(workload, "elementwise") if workload["sites"][entry["site"]]["line"] == 5]
    assert scaled["op"]["elementwise"]["n"] == 400


@RECORDERS
def test_host_made_arrays_are_copied_in(recorder: str, tmp_path: Path) -> None:
    source = """import numpy as np
np.save("a.npy", np.ones(1000))
loaded = np.load("a.npy")
listed = np.array([1.0] * 500)
buffered = np.frombuffer(bytes(8 * 250))
made = np.zeros(125)
for a in (loaded, listed, buffered, made):
    s = a * 2.0
"""
    (workload,) = record(source, recorder, tmp_path)
    products = [entry for entry in workload["ops"] if entry["name"] == "numpy.multiply"]
    copied = {entry["read_bytes"]: entry["host_input_bytes"] for entry in products}
    assert copied == {8000: 8000, 4000: 4000, 2000: 2000, 1000: 0}


@RECORDERS
def test_loops_are_one_entry(recorder: str, tmp_path: Path) -> None:
    source = "import numpy as np\na = np.ones(10)\nfor _ in range(5000):\n    a = a + 1.0\n"
    (workload,) = record(source, recorder, tmp_path)
    (added,) = [entry for entry in workload["ops"] if entry["name"] == "numpy.add"]
    assert added["count"] == 5000
    assert len(workload["order"]) < 10


@RECORDERS
def test_scipy_functions_are_one_op(recorder: str, tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = "import numpy as np\nimport scipy.linalg as la\na = np.eye(50) * 2\nla.cholesky(a)\nla.solve(a, a[0])\n"
    (workload,) = record(source, recorder, tmp_path)
    names = [(entry["name"], workload["sites"][entry["site"]]["line"]) for entry in workload["ops"]]
    assert ("scipy.linalg.cholesky", 4) in names and ("scipy.linalg.solve", 5) in names
    assert len(entries(workload, "factor")) == 2


@RECORDERS
@pytest.mark.parametrize("end", ["os._exit(3)", "sys.exit(3)", "os.abort()", "os.kill(os.getpid(), 9)"])
def test_what_was_seen_is_kept(end: str, recorder: str, tmp_path: Path) -> None:
    code = {"os.abort()": -6, "os.kill(os.getpid(), 9)": -9}.get(end, 3)
    source = f"""import os, sys, time
import numpy as np
a = np.ones((10, 10))
until = time.monotonic() + 1.5
while time.monotonic() < until:
    a @ a
{end}
"""
    (workload,) = record(source, recorder, tmp_path, code)
    assert entries(workload, "matmul")[0]["count"] > 1000


@RECORDERS
def test_an_exit_without_clean_up_loses_nothing(recorder: str, tmp_path: Path) -> None:
    source = "import os\nimport numpy as np\na = np.ones(7)\nfor _ in range(10):\n    a + a\nos._exit(0)\n"
    (workload,) = record(source, recorder, tmp_path)
    assert [entry["count"] for entry in workload["ops"] if entry["name"] == "numpy.add"] == [10]


@RECORDERS
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_children_have_their_own_files(method: str, recorder: str, tmp_path: Path) -> None:
    source = f"""import multiprocessing
import numpy as np
def work(n):
    a = np.ones((n, n))
    return float((a @ a)[0, 0])
if __name__ == "__main__":
    with multiprocessing.get_context("{method}").Pool(2) as pool:
        assert pool.map(work, [20] * 8) == [20.0] * 8
        pool.close()
        pool.join()  # a worker killed by `with` may lose what it did in its last milliseconds
"""
    workloads = record(source, recorder, tmp_path)
    assert sum(entry["count"] for workload in workloads for entry in entries(workload, "matmul")) == 8
    assert 2 <= len(workloads) <= 4


@RECORDERS
def test_the_scripts_own_clocks_are_markers(recorder: str, tmp_path: Path) -> None:
    source = (
        "import time\nimport numpy as np\nt = time.perf_counter()\nnp.ones(3) + 1\nd = time.perf_counter() "
        "- t\ntime.sleep(0.05)\n"
    )
    (workload,) = record(source, recorder, tmp_path)
    assert [marker["clock"] for marker in workload["markers"]] == ["time.perf_counter"] * 2
    assert 50_000_000 <= workload["program"]["idle_ns"] < 5_000_000_000


@RECORDERS
def test_seeding_is_the_hosts_whatever_numpy_does_inside(recorder: str, tmp_path: Path) -> None:
    source = """import numpy as np
a = np.ones(10)
state = np.random.RandomState(1)
np.random.seed(5)
rng = np.random.default_rng(3)
seeds = np.random.SeedSequence(4)
seeds.spawn(2)
twister = np.random.MT19937(7)
twister.jumped()
np.random.Generator(np.random.PCG64(7))
np.random.Generator(np.random.Philox(3))
np.random.Generator(np.random.SFC64(3))
state.seed(2)
state.set_state(state.get_state())
rng.spawn(2)
try:
    np.random.RandomState(-1)
except ValueError:
    pass
state.normal(size=30)
rng.normal(size=20)
"""
    (workload,) = record(source, recorder, tmp_path)
    counted = [(workload["sites"][entry["site"]]["line"], entry["name"], entry["count"]) for entry in workload["ops"]]
    drawn = [(20, "numpy.random.RandomState.normal", 1), (21, "numpy.random.Generator.normal", 1)]
    assert [row for row in counted if row[0] > 2] == drawn


def called(workload: dict[str, Any], after: int) -> list[tuple[int, str, int]]:
    """Line, name and count of what was called after a line."""
    rows = [(workload["sites"][entry["site"]]["line"], entry["name"], entry["count"]) for entry in workload["ops"]]
    return sorted(row for row in rows if row[0] > after)


@RECORDERS
def test_single_numbers_are_read_by_the_host(recorder: str, tmp_path: Path) -> None:
    source = """import numpy as np
a, b = np.ones((100, 3)), np.ones(100)
total = 0.0
for i in range(100):
    total += a[i, 2] * b[i]
    row = a[i]
print(total)
"""
    (workload,) = record(source, recorder, tmp_path)
    reads = [(5, "numpy.ndarray.item", 200), (6, "numpy.ndarray.__getitem__", 100)]
    seen = called(workload, 2)
    assert {(line, name) for line, name, _ in seen} == {(line, name) for line, name, _ in reads}
    assert [sum(count for line, _, count in seen if line == at) for at in (5, 6)] == [200, 100]
    assert sum(entry["read_bytes"] * entry["count"] for entry in entries(workload, "host_read")) == 200 * 8


@RECORDERS
@pytest.mark.parametrize("read", ["float(loss)", "int(loss)", "str(loss)"])
def test_a_value_is_read_however_much_was_done_since_it_was_made(read: str, recorder: str, tmp_path: Path) -> None:
    source = f"""import numpy as np
a = np.ones(100)
for i in range(50):
    loss, least = (a * a).mean(), a.min()
    a = a * 0.5
    {read}
    {read.replace("loss", "least")}
"""
    (workload,) = record(source, recorder, tmp_path)
    reads = [(workload["sites"][entry["site"]]["line"], entry["count"]) for entry in entries(workload, "host_read")]
    assert sorted(reads) == [(6, 50), (7, 50)]


def test_what_is_made_of_a_value_is_read_however_much_was_done_since(native: None, tmp_path: Path) -> None:
    source = """import numpy as np
a, losses = np.ones(100), []
for i in range(50):
    losses.append((a * a).mean() / 2)
    a = a * 0.5
    if losses[-1] < 1e-300 or a[0] < 0:
        break
for value in np.array([1.0, 2.0]):
    float(value)
"""
    (workload,) = record(source, "native", tmp_path)
    reads = [(entry["name"].rpartition(".")[2], entry["count"]) for entry in entries(workload, "host_read")]
    assert sorted(reads) == [("__bool__", 50), ("item", 50)]


@RECORDERS
@pytest.mark.parametrize("many", [15, 16, 100])
def test_arrays_are_joined_whole_however_many(many: int, recorder: str, tmp_path: Path) -> None:
    source = f"""import numpy as np
rows = [np.ones(10 + i) for i in range({many})]
np.concatenate(rows)
"""
    (workload,) = record(source, recorder, tmp_path)
    (joined,) = [entry for entry in workload["ops"] if entry["name"] == "numpy.concatenate"]
    n = sum(10 + i for i in range(many))
    assert (joined["read_bytes"], joined["written_bytes"], joined["op"]["copy"]["n"]) == (8 * n, 8 * n, n)


@RECORDERS
def test_a_filter_is_one_whichever_side_it_is_on(recorder: str, tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import numpy as np
from scipy import signal
x, h = np.ones(1000), np.ones(61)
np.convolve(x, h), np.convolve(h, x), signal.correlate(h, x, method="direct"), signal.upfirdn(h, x, 3, 2)
"""
    (workload,) = record(source, recorder, tmp_path)
    kernels = {entry["name"]: entry["op"]["convolution"]["kernel"] for entry in entries(workload, "convolution")}
    assert kernels == {"numpy.convolve": [61], "scipy.signal.correlate": [61], "scipy.signal.upfirdn": [21]}


@RECORDERS
def test_powers_are_what_numpy_makes_of_them(recorder: str, tmp_path: Path) -> None:
    source = """import numpy as np
f, i, c = np.ones(9), np.arange(9), np.ones(9, complex)
f**2
f**0.5
f**-1
f**3
i**2
c**2
f **= 2
pow(f, 2)
2.0**f
np.power(f, 2)
"""
    (workload,) = record(source, recorder, tmp_path)
    # Whole numbers to the power of 2.0 are left out: what those are differs from one NumPy to another.
    names = "square sqrt reciprocal power square square square square power power".split()
    assert called(workload, 2) == [(line, f"numpy.{name}", 1) for line, name in enumerate(names, 3)]


@RECORDERS
def test_a_vectorized_function_is_the_scripts_own(recorder: str, tmp_path: Path) -> None:
    source = """import numpy as np
@np.vectorize
def one(n):
    return sum(range(int(n)))
one(np.arange(50.0))
"""
    (workload,) = record(source, recorder, tmp_path)
    assert not entries(workload, "opaque")


@RECORDERS
def test_sparse_products_are_seen_in_whatever_calls_them(recorder: str, tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import cg
A = sp.diags([-1, 4, -1], [-1, 0, 1], shape=(50, 50), format="csr")
b = np.ones(50)
A @ b
A.dot(b)
A @ A
cg(A, b)
"""
    (workload,) = record(source, recorder, tmp_path)
    lines = {workload["sites"][entry["site"]]["line"] for entry in entries(workload, "sparse")}
    assert lines == {6, 7, 8, 9}
    (product,) = [entry for entry in entries(workload, "sparse") if workload["sites"][entry["site"]]["line"] == 6]
    assert product["op"]["sparse"]["nnz"] == 148
    assert not [entry for entry in entries(workload, "opaque") if workload["sites"][entry["site"]]["line"] > 5]


@RECORDERS
def test_what_is_given_by_place_is_known_as_by_name(recorder: str, tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import numpy as np
from scipy import fft, ndimage, signal
a = np.ones((40, 40))
ndimage.gaussian_filter(a, 3); ndimage.gaussian_filter(a, sigma=3)
ndimage.median_filter(a, 5); ndimage.median_filter(a, size=5)
ndimage.uniform_filter(a, 7); ndimage.uniform_filter(input=a, size=7)
signal.medfilt2d(a, (9, 3)); signal.medfilt2d(a, kernel_size=(9, 3))
fft.fft(a, 64, 0); fft.fft(a, n=64, axis=0)
"""
    (workload,) = record(source, recorder, tmp_path)
    ops = [(workload["sites"][entry["site"]]["line"], entry["op"], entry["count"]) for entry in workload["ops"]]
    seen = {line: (op, sum(n for at, o, n in ops if at == line)) for line, op, _ in ops if line > 3}
    assert [count for _, count in seen.values()] == [2] * 5
    assert len([1 for line, _, _ in ops if line > 3]) == 5, "one entry a line"
    assert [seen[line][0]["window"]["window"] for line in range(4, 8)] == [50, 25, 14, 27]


@RECORDERS
def test_singular_values_alone_are_less_than_all_of_it(recorder: str, tmp_path: Path) -> None:
    source = """import numpy as np
a = np.ones((40, 30))
np.linalg.svd(a, compute_uv=False)
np.linalg.svd(a, full_matrices=False)
"""
    (workload,) = record(source, recorder, tmp_path)
    kinds = {workload["sites"][e["site"]]["line"]: e["op"]["factor"]["kind"] for e in entries(workload, "factor")}
    assert kinds == {3: "svdvals", 4: "svd"}


def test_rewritten_code_knows_what_numpy_is_given_by_place(tmp_path: Path) -> None:
    source = """import numpy as np
a = np.ones((40, 40))
np.linalg.norm(a, 2)
np.linalg.svd(a, False, False)
np.sort(a, 0)
np.linalg.matrix_power(a, 8)
"""
    (workload,) = record(source, "ast", tmp_path)
    kinds = [entry["op"]["factor"]["kind"] for entry in entries(workload, "factor")]
    assert kinds == ["svdvals", "svdvals"]
    (power,) = entries(workload, "matmul")
    assert power["op"]["matmul"]["batch"] == 3


@RECORDERS
def test_distances_are_products_unless_a_function_measures_them(recorder: str, tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import numpy as np
from scipy.cluster.vq import vq
from scipy.spatial.distance import cdist, pdist
a = np.ones((20, 5))
cdist(a, a[:7])
pdist(a, "cosine")
vq(a, a[:3])
cdist(a, a[:7], lambda u, v: 1.0)
pdist(a, metric=lambda u, v: 1.0)
"""
    (workload,) = record(source, recorder, tmp_path)
    dims = {
        workload["sites"][entry["site"]]["line"]: [entry["op"]["matmul"][axis] for axis in "mnk"]
        for entry in entries(workload, "matmul")
    }
    assert dims == {5: [20, 7, 5], 6: [20, 9, 5], 7: [20, 3, 5]}


def test_overlapping_windows_are_views_of_the_array(native: None, tmp_path: Path) -> None:
    source = """import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view
a = np.ones(1000)
w = as_strided(a, (998, 3), (8, 8))
w @ a[:3]
sliding_window_view(a, 5).sum(axis=1)
w[:10] += 1.0
a * 2.0
"""
    (workload,) = record(source, "native", tmp_path)
    # No more than the shape of a window, which NumPy looks at.
    assert sum(entry.get("host_input_bytes", 0) for entry in workload["ops"]) <= 16
    assert [entry["name"] for entry in workload["ops"] if entry["op"] == "view" and "asarray" in entry["name"]]


def test_many_arrays_that_go_at_once_are_followed(native: None, tmp_path: Path) -> None:
    source = """import numpy as np
rows = [np.full(300, float(i)) for i in range(20000)]
del rows[::2]
whole = np.ones(2_500_000)
"""
    (workload,) = record(source, "native", tmp_path)
    assert workload["unseen"] == []
    assert workload["program"]["peak_bytes"] == pytest.approx(20000 * 2400, abs=1000)


def test_what_rewriting_costs_is_taken_off(tmp_path: Path) -> None:
    source = """import numpy as np
a = np.arange(1000.0)
total = 0.0
for i in range(30000):
    total += (a[i % 998] + a[i % 998 + 1]) * 0.5 - a[3]
"""
    (workload,) = record(source, "ast", tmp_path)
    program = workload["program"]
    assert program["hook_ns"] > 500, "calls of Python's before and after each"
    items = [entry for entry in workload["ops"] if entry["count"] >= 30000]
    hooks_ns = program["events"] * program["hook_ns"]
    assert hooks_ns < program["wall_ns"]
    assert sum(entry["cpu_ns"] + entry["gap_ns"] for entry in items) < program["wall_ns"] - 0.9 * hooks_ns
