"""What runs outside recorded ops is told by line and library: Python, a compiled function, or waiting."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import running

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="samples are taken on Linux alone")

SOLVE = """\
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu
n = 4000
lu = splu(sp.diags([np.full(n, 4.0), np.full(n - 1, -1.0), np.full(n - 1, -1.0)], [0, 1, -1]).tocsc())
b = np.ones((n, 200))
def solve(times):
    for _ in range(times):
        lu.solve(b)  # here
"""
#: Script, and what more than half of the time at its line `# here` is: the kind, and where it is native whose and what.
CASES = {
    "one long call": (SOLVE + "solve(60)\n", ("native", "scipy", "SuperLU.solve")),
    # Where the main thread waits all the time, it is its line that is known.
    "in a thread": (
        "import threading\n" + SOLVE.replace("  # here", "")
        + "thread = threading.Thread(target=solve, args=(60,))\nthread.start()\nthread.join()  # here\n",
        ("native", "scipy", "SuperLU.solve"),
    ),
    "in a child": (
        "import os, warnings\nwarnings.simplefilter('error')\n" + SOLVE + "if os.fork() == 0:\n    solve(60)\n    "
        "raise SystemExit\nos.wait()\n",
        ("native", "scipy", "SuperLU.solve"),
    ),
    # The generator's own frame holds what it calls.
    "in a generator": (
        SOLVE.replace("    for _ in range(times):\n        lu.solve(b)", "    for _ in range(times):\n        yield "
        "lu.solve(b)")
        + "for _ in solve(60):\n    pass\n",
        ("native", "scipy", "SuperLU.solve"),
    ),
    "in a coroutine": (
        SOLVE.replace("def", "async def").replace("    lu.solve", "    await asyncio.sleep(0); lu.solve")
        + "import asyncio\nasyncio.run(solve(60))\n",
        ("native", "scipy", "SuperLU.solve"),
    ),
    "by keyword": (SOLVE.replace("solve(b)", "solve(b, trans='N')") + "solve(60)\n", ("native", "scipy",
    "SuperLU.solve")),
    "with arguments unpacked": (
        SOLVE.replace("solve(b)", "solve(*[b], **{'trans': 'N'})") + "solve(60)\n",
        ("native", "scipy", "SuperLU.solve"),
    ),
    "many short calls": (
        "import ctypes\nlgamma = ctypes.CDLL('libm.so.6').lgamma\nlgamma.restype = ctypes.c_double\n"
        "lgamma.argtypes = [ctypes.c_double]\nx = 170.5\nfor _ in range(400_000):\n"
        "    lgamma(x); lgamma(x); lgamma(x); lgamma(x)  # here\n",
        ("native", "libm.so.6", "lgamma"),
    ),
    "through map": (SOLVE.replace("  # here", "") + "list(map(lu.solve, [b] * 60))  # here\n", ("native", "scipy",
    "SuperLU.solve")),
    "through map in a loop": (
        SOLVE.replace("  # here", "") + "for i, x in enumerate(map(lu.solve, [b] * 60)):  # here\n    pass\n",
        ("native", "scipy", "SuperLU.solve")
    ),
    "through partial": (
        "import functools\n" + SOLVE.replace("  # here", "") + "f = functools.partial(lu.solve, b)\nfor _ in "
        "range(60):\n    f()  # here\n",
        ("native", "scipy", "SuperLU.solve"),
    ),
    "through itertools": (
        "import itertools\n" + SOLVE.replace("  # here", "") + "list(itertools.starmap(lu.solve, [(b,)] * 60))  # "
        "here\n", ("native", "scipy", "SuperLU.solve")
    ),
    # Eigenvalues near 0: a factorisation that is an op, then solves that are none.
    "between two ops of a function": (
        "import os\nos.environ['OPENBLAS_NUM_THREADS'] = '1'\n"
        "import numpy as np\nimport scipy.sparse as sp\nfrom scipy.sparse.linalg import eigsh\nn = 220\n"
        "d = sp.diags([-1.0, 2, -1], [-1, 0, 1], shape=(n, n))\neye = sp.identity(n)\na = (sp.kron(eye, d) + "
        "sp.kron(d, eye)).tocsc()\n"
        "eigsh(a, k=6, sigma=0)  # here\n",
        ("native", "scipy", "SuperLU.solve"),
    ),
    "bytecode": ("s = 0\nfor i in range(12_000_000):\n    s += i & 3  # here\nprint(s)\n", ("python", None, None)),
    # Frames come and go faster than they are read.
    "calls": (
        "def fibonacci(n):\n    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)  # here\nfibonacci(33)\n",
        ("python", None, None),
    ),
    "builtins": ("words = [str(i) for i in range(300_000)]\nfor _ in range(40):\n    sorted(words)  # here\n",
    ("python", None, None)),
    "the standard library": (
        "import json\ntext = json.dumps(list(range(200_000)))\nfor _ in range(60):\n    json.loads(text)  # here\n",
        ("python", None, None),
    ),
    "asleep": ("import time\nfor _ in range(20):\n    time.sleep(0.04)  # here\n", ("waiting", None, None)),
    "another process": (
        "import subprocess, sys\nsubprocess.run([sys.executable, '-S', '-c', 'import time; time.sleep(0.8)']) "
        " # here\n",
        ("waiting", None, None),
    ),
}


def recorded(script: str, folder: Path, hooks: str = "") -> list[dict[str, Any]]:
    path = folder / "script.py"
    path.write_text(script)
    outcome = running.traced(folder / "run", [str(path)], "native", folder / "record", hooks)
    assert outcome.code == 0, outcome.err.decode()
    return running.workloads(folder / "record")


@pytest.mark.parametrize("name", CASES)
def test_most_time_at_a_line_is_told_as_what_it_is(name: str, tmp_path: Path, native: None) -> None:
    script, expected = CASES[name]
    if "scipy" in script:
        pytest.importorskip("scipy")
    here = 1 + [line.endswith("# here") for line in script.splitlines()].index(True)
    found: dict[Any, int] = defaultdict(int)
    for workload in recorded(script, tmp_path):
        for row in workload.get("host_code", ()):
            if "site" in row and workload["sites"][row["site"]]["line"] == here:
                found[row["kind"], row.get("library"), row.get("function")] += row["ns"]
    assert found[expected] > 0.5 * sum(found.values()) > 0, dict(found)
    assert found[expected] > 1e8, dict(found)


#: Ways to fork, from a function that makes the child end at once.
FORKS = {
    "fork": "if os.fork() == 0:\n            os._exit(0)\n        os.wait()",
    "forkpty": "pid, terminal = os.forkpty()\n        if pid == 0:\n            os._exit(0)\n        os.wait()\n      "
               "  os.close(terminal)",
    "subprocess": "subprocess.run(['true'], preexec_fn=work, check=True)",
    "multiprocessing": "process = forking.Process(target=work)\n        process.start()\n        process.join()",
}


@pytest.mark.parametrize("way", FORKS)
def test_no_thread_is_left_where_python_counts_them(way: str, tmp_path: Path, native: None) -> None:
    # From 3.12 on Python warns where a process forks that has more than one thread.
    script = (
        "import logging, multiprocessing, os, subprocess, warnings\nwarnings.simplefilter('error')\n"
        "forking = multiprocessing.get_context('fork')\ndef work():\n    return sum(i for i in range(1_000_000))\n"
        f"if __name__ == '__main__':\n    for round in range(20):\n        {FORKS[way]}\n        work()\n"
    )
    first = recorded(script, tmp_path)
    assert max(sum(row["samples"] for row in workload.get("host_code", ())) for workload in first) > 10, first


@pytest.mark.timed
def test_tuples_of_tuples_take_no_look_longer(tmp_path: Path, native: None) -> None:
    # Twelve of twelve of twelve of twelve: to look at each took half a processor.
    script = (
        "import sys, time\nt = 1.5\nfor _ in range(4):\n    t = (t,) * 12\nbegan, own = time.process_time(), "
        "time.thread_time()\n"
        "while time.thread_time() - own < 1:\n    for _ in range(200):\n        max(t, t, t, key=id)\n"
        "assert time.process_time() - began < 1.2, time.process_time() - began\n"
    )
    recorded(script, tmp_path)


def test_it_can_be_left_out(tmp_path: Path, native: None) -> None:
    (workload,) = recorded(CASES["bytecode"][0], tmp_path, "-sampler")
    assert not workload.get("host_code")
    assert [unseen["reason"] for unseen in workload["unseen"]] == ["not-sampled"]


def test_what_a_package_does_with_numpy_is_its_own(tmp_path: Path, native: None) -> None:
    package = tmp_path / "site-packages" / "frames"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import numpy as np\ndef total(x):\n    return np.add(x, 1).sum()\n")
    script = (
        f"import sys\nsys.path.append({os.fspath(package.parent)!r})\nimport frames\nimport numpy as np\n"
        "x = np.ones(1000)\ny = np.multiply(x, 2)\nframes.total(x)\n"
    )
    (workload,) = recorded(script, tmp_path)
    callers = {entry["name"]: entry.get("library") for entry in workload["ops"]}
    assert (callers["numpy.multiply"], callers["numpy.add"]) == (None, "frames"), callers


@pytest.mark.timed
def test_a_clock_that_a_library_reads_costs_little(tmp_path: Path, native: None) -> None:
    package = tmp_path / "site-packages" / "compiler"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "import time\ndef deep(n):\n    if n:\n        return deep(n - 1)\n    began = time.thread_time()\n"
        "    for _ in range(100_000):\n        time.perf_counter()\n    return time.thread_time() - began\n"
    )
    script = (
        f"import sys\nsys.path.append({os.fspath(package.parent)!r})\n"
        f"import numpy\nimport compiler\nprint(compiler.deep(50))\n"
    )
    path = tmp_path / "script.py"
    path.write_text(script)
    traced = running.traced(tmp_path / "run", [str(path)], "native", tmp_path / "record")
    plain = running.untraced(tmp_path / "plain", [str(path)])
    # A way out to the script's line took some 45 µs a read.
    assert float(traced.out) < float(plain.out) + 0.1, (traced.out, plain.out)


def test_what_a_worker_runs_is_told_by_the_scripts_line(tmp_path: Path, native: None) -> None:
    """A function of the script that joblib sends to its workers is the script's there, too."""
    pytest.importorskip("joblib")
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\nfrom joblib import Parallel, delayed\n"
        "def product(seed):\n    x = np.ones((300, 300)) * seed\n    return float((x @ x).sum())  # here\n"
        "print(sum(Parallel(n_jobs=2)(delayed(product)(seed) for seed in range(6))))\n"
    )
    command = Path(sys.executable).parent / "breakeven"
    report = tmp_path / "report.json"
    asked = ["run", "--format", "json", "--output", str(report), str(script)]
    subprocess.run([str(command), *asked], check=True, cwd=tmp_path, stdout=subprocess.DEVNULL, timeout=300)
    answer = json.loads(report.read_text())
    products = [site for site in answer["sites"] if site["line"] == 5]
    assert {Path(site["file"]).name for site in products} == {"script.py"}, answer["sites"]
    waits = [site for site in answer["sites"] if site["file"] == "<string>"]
    assert all(site["share"] < 0.1 for site in waits), waits
