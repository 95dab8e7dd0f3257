"""Calls recognised in place are recorded as by the long way: programs with and without give the same files."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import running

PROGRAMS = Path(__file__).parent / "programs"
TIMES = ("cpu_ns", "gap_ns")

#: What a short way could get wrong: the same place with other callees, shapes, dtypes, layouts, keywords, results,
#: buffers that come and go at one address, host data among device data, calls within calls, errors, threads.
TRAPS = {
    "callees": """
for i in range(400):
    f = (np.add, np.multiply, np.subtract)[i % 3]
    f(a, b)
""",
    "shapes": """
arrays = [np.ones(n) for n in (3, 5, 5, 7)]
grids = [np.ones((2, 3)), np.ones((3, 2)).T, np.ones((2, 3), order="F"), np.ones((4, 3))[::2]]
for i in range(400):
    arrays[i % 4] + 1.0
    grids[i % 4] * 2.0
""",
    "many shapes": """
for n in range(1, 900):
    for _ in range(3):
        np.ones(n) + 1.0
""",
    "dtypes": """
kinds = [np.ones(4, d) for d in ("f8", "f4", "i8", ">f8", "c16", "f2", "?")] + [np.array([1, 2, 3, 4], object)]
for i in range(800):
    kinds[i % 8] + kinds[i % 8]
    kinds[i % 2] + (1.0, 1, np.float64(1), np.ones(4))[i % 4]
""",
    "axis": """
m = np.ones((3, 4))
for i in range(300):
    m.sum(axis=i % 2)
    m.sum(i % 2)
    m.sum(axis=None, keepdims=i % 3 == 0)
    np.add.reduce(m, axis=0)
    np.sum(m, axis=1)
""",
    "outputs": """
out = np.zeros(10)
for i in range(300):
    np.add(a, b, out)
    np.add(a, b, out=out)
    out += a
    out[2:] += b[2:]
    out[:] = a
    np.copyto(out, b)
    np.divmod(a, b)
""",
    "buffers": """
keep = []
for i in range(300):
    x = a + b
    y = x * 2.0
    if i % 7 == 0:
        keep.append(y)
    if i % 50 == 0:
        keep.clear()
    z = np.empty(3000) + i
    del x
    w = np.array([1.0] * 10) + a
""",
    "host": """
h = np.zeros(10)
for i in range(300):
    if i % 5 == 0:
        memoryview(h)[0] = 1.0
    h + a
    np.frombuffer(bytes(80)) + a
    float((a + b)[0])
    if (a < b).all():
        pass
""",
    "nested": """
class Odd:
    def __array__(self, dtype=None, copy=None):
        return a + 1.0
    def __radd__(self, other):
        return other * 2.0
for i in range(200):
    np.add(a, Odd())
    np.apply_along_axis(lambda r: r * 2.0, 0, np.ones((4, 2)))
    np.linalg.norm(a)
    np.vectorize(lambda v: v + 1)(a)
""",
    "errors": """
with np.errstate(all="raise"):
    for i in range(300):
        try:
            a / (b * (i % 3))
        except FloatingPointError:
            pass
        try:
            a + np.ones(1 + i % 2 * 2)
        except ValueError:
            pass
""",
    "subclasses": """
class Sub(np.ndarray):
    pass
s = np.ones(10).view(Sub)
m = np.ma.masked_array(np.ones(10), [0, 1] * 5)
for i in range(200):
    (a, s, m, np.matrix([[1.0, 2.0]]))[i % 4] * 2.0
""",
    "branches": """
for i in range(1000):
    x = a + b
    if i % 3 == 0:
        x = x * a
    if i * 7919 % 11 < 4:
        x = np.sqrt(x)
    x = x.sum()
""",
    "functions": """
def step(u):
    return u * 0.5 + u
def made(n):
    exec(compile(f"def f(u):\\n    return u + {n}.0\\n", "made.py", "exec"), space := {})
    return space["f"]
for i in range(300):
    step(a)
    made(i % 5)(a)
""",
    "threads": """
import threading
def work(n):
    for _ in range(n):
        a + b
        np.sqrt(a)
threads = [threading.Thread(target=work, args=(500,)) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
""",
}


def record(path: Path, hooks: str, folder: Path) -> dict[str, Any]:
    record = folder / f"record{hooks}"
    record.mkdir(parents=True)
    environment = {"BREAKEVEN_RECORD_DIR": str(record), "BREAKEVEN_RECORDER": "native", "BREAKEVEN_HOOKS": hooks}
    outcome = running.run([sys.executable, "-m", "breakeven._run", str(path)], folder / "run", environment)
    assert outcome.code == 0, outcome.err.decode()
    (workload,) = running.workloads(record)
    return workload


def without_times(workload: dict[str, Any]) -> dict[str, Any]:
    program = {key: workload["program"][key] for key in ("events", "peak_bytes")}
    ops = [{key: value for key, value in op.items() if key not in TIMES} for op in workload["ops"]]
    markers = [{key: value for key, value in marker.items() if key != "at_ns"} for marker in workload["markers"]]
    rest = {key: workload[key] for key in ("order", "buffers", "unseen")}
    # Lines that only wait come last; whether one does is a matter of chance.
    sites = workload["sites"][: max((row["site"] + 1 for row in (*ops, *markers)), default=0)]
    return {"program": program, "ops": ops, "markers": markers, "sites": sites, **rest}


NAMES = sorted(path.name for path in PROGRAMS.glob("*.py") if not path.name.startswith("torch_"))


@pytest.mark.parametrize("name", [*TRAPS, *NAMES])
def test_the_short_way_records_what_the_long_way_does(name: str, tmp_path: Path, native: None) -> None:
    path = PROGRAMS / name
    if name in TRAPS:
        path = tmp_path / "script.py"
        path.write_text("import numpy as np\na = np.linspace(0.0, 1.0, 10)\nb = np.ones(10)\n" + TRAPS[name])
    short, long = record(path, "", tmp_path / "1"), record(path, "-again", tmp_path / "2")
    assert long["program"]["sampling"] == 1
    if name == "threads":
        # Which thread comes first is chance; what each does is not.
        counts = [sorted((op["name"], op["count"]) for op in workload["ops"]) for workload in (short, long)]
        assert counts[0] == counts[1]
        return
    assert json.dumps(without_times(short), indent=1) == json.dumps(without_times(long), indent=1)

