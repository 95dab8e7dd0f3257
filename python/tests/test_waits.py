"""What a script waits for is told apart from what it computes, whatever it waits for and whoever computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import running

pytestmark = pytest.mark.timed

HEAD = "import numpy as np\nimport os, queue, select, socket, subprocess, sys, threading, time\n"
#: Each waits twenty times for 40 ms, and computes a little in between.
WAITS = {
    "asleep": "for i in range(20):\n    time.sleep(0.04)\n    np.ones(9) + i\n",
    "asleep often": "for i in range(800):\n    time.sleep(0.001)\n    np.ones(9) + i\n",
    "a network": (
        "here, there = socket.socketpair()\n"
        "def answer():\n"
        "    while there.recv(1):\n"
        "        time.sleep(0.04)\n"
        "        there.send(b'x')\n"
        "threading.Thread(target=answer, daemon=True).start()\n"
        "for i in range(20):\n    here.send(b'x')\n    here.recv(1)\n    np.ones(9) + i\n"
    ),
    "a queue": (
        "tasks = queue.Queue()\n"
        "def feed():\n    for i in range(20):\n        time.sleep(0.04)\n        tasks.put(np.ones(9) + i)\n"
        "threading.Thread(target=feed).start()\n"
        "for i in range(20):\n    tasks.get() + i\n"
    ),
    "another program": (
        "for i in range(20):\n    subprocess.run(['sleep', '0.04'], check=True)\n    np.ones(9) + i\n"
    ),
    "select": "for i in range(20):\n    select.select([], [], [], 0.04)\n    np.ones(9) + i\n",
    "at the end": "np.ones(9) + 1\ntime.sleep(0.8)\n",
    "before an import": "time.sleep(0.8)\nimport numpy.random\nnp.random.rand(9)\n",
}
#: The line that is named: the one that waits where that is known, else that of the operation that comes next.
NAMED = {
    "asleep": "time.sleep(0.04)",
    "asleep often": "time.sleep(0.001)",
    "a queue": "tasks.put(np.ones(9) + i)",
    "at the end": "time.sleep(0.8)",
    "before an import": "time.sleep(0.8)",
}
#: Nothing waits, although the main thread may.
WORKS = {
    "python": "s = 0\nfor i in range(4_000_000):\n    s += i\nnp.ones(9) + s\n",
    "a thread": (
        "def count():\n    s = 0\n    for i in range(4_000_000):\n        s += i\n    np.ones(9) + s\n"
        "thread = threading.Thread(target=count)\nthread.start()\nthread.join()\nnp.ones(9) + 1\n"
    ),
    "a thread, looked after": (
        "def count():\n    s = 0\n    for i in range(4_000_000):\n        s += i\n    np.ones(9) + s\n"
        "thread = threading.Thread(target=count)\nthread.start()\n"
        "while thread.is_alive():\n    time.sleep(0.01)\nnp.ones(9) + 1\n"
    ),
    "a product": "a = np.ones((700, 700))\nfor i in range(8):\n    a = a @ a / 700\nprint(a.sum())\n",
}


def recorded(script: str, folder: Path) -> dict[str, Any]:
    path = folder / "script.py"
    path.write_text(HEAD + script)
    outcome = running.traced(folder / "run", [str(path)], "native", folder / "record")
    assert outcome.code == 0, outcome.err.decode()
    (workload,) = running.workloads(folder / "record")
    return workload


@pytest.mark.parametrize("name", WAITS)
def test_waiting_is_found(name: str, tmp_path: Path, native: None) -> None:
    workload = recorded(WAITS[name], tmp_path)
    program = workload["program"]
    # A thread that has waited may have to wait for a CPU, too: that is none of it.
    assert 0.5e9 < program["idle_ns"] <= program["wall_ns"], program


def test_waiting_before_there_are_arrays_is_found(tmp_path: Path, native: None) -> None:
    script = tmp_path / "script.py"
    script.write_text("import time\ntime.sleep(0.8)\nimport numpy as np\nnp.ones(9) + 1\n")
    outcome = running.traced(tmp_path / "run", [str(script)], "native", tmp_path / "record")
    assert outcome.code == 0, outcome.err.decode()
    (workload,) = running.workloads(tmp_path / "record")
    assert 0.5e9 < workload["program"]["idle_ns"] < 1.2e9


@pytest.mark.parametrize("name", WAITS)
def test_a_wait_has_its_line(name: str, tmp_path: Path, native: None) -> None:
    workload = recorded(WAITS[name], tmp_path)
    at: dict[str, int] = {}
    for wait in workload["waits"]:
        text = workload["sites"][wait.get("site", wait.get("before"))]["text"]
        at[text] = at.get(text, 0) + wait["ns"]
    line = max(at, key=lambda text: at[text])
    assert line == NAMED.get(name, "np.ones(9) + i"), at
    assert 0.5e9 < at[line] <= workload["program"]["idle_ns"]
    assert all(("site" in wait) == (name in NAMED and name != "a queue") for wait in workload["waits"]
        if wait["ns"] > 5e8)


@pytest.mark.parametrize("name", WORKS)
def test_computing_is_no_waiting(name: str, tmp_path: Path, native: None) -> None:
    program = recorded(WORKS[name], tmp_path)["program"]
    assert program["idle_ns"] < 0.2 * (program["wall_ns"] - program["stolen_ns"]), program


def test_parts_that_numpy_imports_at_their_first_use_are_start_up(tmp_path: Path, native: None) -> None:
    script = (
        "began = time.perf_counter_ns()\n"
        "np.random, np.fft\n"
        "late = time.perf_counter_ns() - began\n"
        "np.ones(9) + 1\n"
        "with open(sys.argv[1], 'w') as file:\n    print(late, file=file)\n"
    )
    path = tmp_path / "script.py"
    path.write_text(HEAD + script)
    said = tmp_path / "late"
    outcome = running.traced(tmp_path / "run", [str(path), str(said)], "native", tmp_path / "record")
    assert outcome.code == 0, outcome.err
    (workload,) = running.workloads(tmp_path / "record")
    late = int(said.read_text())
    if workload["program"]["versions"]["numpy"].startswith("1."):
        pytest.skip("NumPy 1 imports its parts with itself")
    assert workload["program"]["startup_ns"] > 0.8 * late
    assert sum(entry.get("gap_ns", 0) for entry in workload["ops"]) < max(0.5 * late, 1e7)


LIBRARY = """
import time
def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
burn(0.1)
"""
MINE = """
import numpy as np
import slow.part  # 0.1 s, and 0.1 s of `slow` itself
x = np.ones(1000)
slow.burn(0.3)
x = x + 1
"""
IMPORTS = """
import sys
sys.path.insert(0, sys.argv[1])
import mine
def later():
    import late
    return mine.x * 2
later()
mine.slow.burn(0.2)
later()
try:
    import broken
except ZeroDivisionError:
    pass
"""


@pytest.mark.parametrize("recorder", ["native", "ast"])
def test_importing_libraries_is_start_up_and_what_a_module_of_the_scripts_does_is_not(recorder: str,
    tmp_path: Path) -> None:
    installed = tmp_path / "site-packages"
    (installed / "slow").mkdir(parents=True)
    (installed / "slow" / "__init__.py").write_text(LIBRARY)
    (installed / "slow" / "part.py").write_text("from slow import burn\nburn(0.1)\n")
    (installed / "late.py").write_text("import slow, later_still\nslow.burn(0.1)\n")
    (installed / "later_still.py").write_text("import slow\nslow.burn(0.1)\n")
    (installed / "broken.py").write_text("import slow\nslow.burn(0.1)\n1 / 0\n")
    (tmp_path / "mine.py").write_text(MINE)
    script = tmp_path / "script.py"
    script.write_text(IMPORTS)
    outcome = running.traced(tmp_path / "run", [str(script), str(installed)], recorder, tmp_path / "record")
    assert outcome.code == 0, outcome.err
    (workload,) = running.workloads(tmp_path / "record")
    program, gaps = workload["program"], sum(entry.get("gap_ns", 0) for entry in workload["ops"])
    own = 1 - program["stolen_ns"] / program["wall_ns"]
    assert {Path(site["file"]).name for site in workload["sites"]} == {"mine.py", "script.py"}
    rest = program["wall_ns"] - program["startup_ns"]
    # 0.5 s; libraries take as long, and NumPy.
    assert min(gaps, rest) > 0.45e9 and max(gaps, rest) * own < 0.75e9, (gaps, program)
