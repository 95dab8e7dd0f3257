"""CUDA graphs, polynomials and vectorized functions of CuPy's, without a GPU."""

from __future__ import annotations

from pathlib import Path

from cupy_running import device, record


def test_a_graph_does_again_what_was_captured_and_nothing_before(tmp_path: Path) -> None:
    source = """import cupy as cp
s = cp.cuda.Stream(non_blocking=True)
a, b = cp.zeros(3), cp.ones(3)
with s:
    s.begin_capture()
    a += b
    c = a * 2
    d = c.sum()
    graph = s.end_capture()
print(a)
for _ in range(3):
    graph.launch(stream=s)
s.synchronize()
print(a, c, d)
with s:
    s.begin_capture()
    try:
        float(a[0])
    except RuntimeError as error:
        print(error)
    s.end_capture()
try:
    cp.cuda.Stream.null.begin_capture()
except RuntimeError as error:
    print(error)
"""
    out, workload = record(source, tmp_path)
    assert out.splitlines() == [
        "[0. 0. 0.]",
        "[3. 3. 3.] [6. 6. 6.] 18.0",
        "cudaErrorStreamCaptureUnsupported: operation not permitted when stream is capturing",
        "cannot capture on the default (legacy) stream",
    ]
    assert device(workload)["cupy.multiply"] == 1 + 3
    parts: dict[str | None, int] = {}
    for entry in workload["ops"]:
        if entry["name"] in ("cupy.multiply", "cupy.cuda.Graph.launch"):
            parts[entry.get("graph")] = parts.get(entry.get("graph"), 0) + entry["count"]
    assert parts == {"capture": 1, "launch": 3, "node": 3}


def test_polynomials_and_vectorized_functions(tmp_path: Path) -> None:
    source = """import cupy as cp
p = cp.poly1d(cp.asarray([0.0, 1.0, 2.0, 3.0]))
print(p.order, p(cp.arange(3.0)), (p * p).coeffs)
f = cp.vectorize(lambda x, y: x * y if x > 1 else x - y)
print(f(cp.arange(4.0), 2.0))
"""
    out, workload = record(source, tmp_path)
    assert out == "2 [ 3.  6. 11.] [ 1.  4. 10. 12.  9.]\n[-2. -1.  4.  6.]\n"
    assert device(workload)["cupy.ElementwiseKernel"] == 1


def test_what_vectorized_and_fused_functions_compute(tmp_path: Path) -> None:
    source = """import cupy as cp
@cp.vectorize
def steps(x):
    s = 0.0
    for k in range(200):
        s = s * x + 1.5
    return s
@cp.fuse()
def squares(x):
    return cp.sum(x * x)
x = cp.ones(64) * 0.5
steps(x)
cp.vectorize(lambda a: a * 2 + 1)(x)
squares(x)
"""
    _, workload = record(source, tmp_path)
    named = ("cupy.ElementwiseKernel", "cupy.fuse")
    told = [entry["op"]["elementwise"]["flop_per_element"] for entry in workload["ops"] if entry["name"] in named]
    assert told == [400.0, 2.0, 2.0]
