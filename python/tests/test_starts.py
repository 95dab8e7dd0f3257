"""Children that are not recorded are counted; a killed command takes the script with it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest
import running

from breakeven.process import spawns

pytestmark = pytest.mark.timed


@pytest.mark.parametrize(
    "words, options",
    [
        (["python", "-S", "x.py"], {"S"}),
        (["python", "-BSu", "x.py"], {"B", "S", "u"}),
        (["python", "-W", "-S", "x.py"], set()),
        (["python", "-Wignore", "-S"], {"S"}),
        (["python", "x.py", "-S"], set()),
        (["python", "-c", "pass", "-S"], set()),
        (["python", "-Bmtimeit", "-S"], {"B"}),
        (["python", "--check-hash-based-pycs=always", "-S"], {"S"}),
        (["python", "-", "-S"], set()),
        (["python"], set()),
    ],
)
def test_options_end_where_the_program_begins(words: list[str], options: set[str]) -> None:
    assert spawns._options(words) == options


@pytest.mark.parametrize(
    "start, unseen",
    [
        ("subprocess.run([python, '-S', '-c', 'pass'])", 1),
        ("[subprocess.run([python, '-S', '-c', 'pass']) for _ in range(3)]", 3),
        ("subprocess.run([python, '-c', 'pass'], env={})", 1),
        ("os.spawnv(os.P_WAIT, python, [python, '-S', '-c', 'pass'])", 1),
        ("os.waitpid(os.posix_spawn(python, [python, '-S', '-c', 'pass'], os.environ), 0)", 1),
        ("os.execv(python, [python, '-S', '-c', 'pass'])", 1),
        ("subprocess.run([python, '-I', '-c', 'pass'])", 0),
        ("subprocess.run([python, '-E', '-c', 'pass'])", 0),
        ("subprocess.run(['/bin/true', '-S'])", 0),
    ],
)
def test_a_child_is_recorded_or_counted(start: str, unseen: int, tmp_path: Path) -> None:
    script = tmp_path / "starts.py"
    script.write_text(f"import os, subprocess\npython = {sys.executable!r}\n{start}\n")
    outcome = running.traced(tmp_path / "run", [str(script)], "native", tmp_path / "record")
    assert (outcome.code, outcome.err) == (0, b"")
    parts = running.workloads(tmp_path / "record")
    told = [u for part in parts for u in part.get("unseen", []) if u["reason"] == "child-not-recorded"]
    assert sum(u["count"] for u in told) == unseen
    if "-I" in start or "-E" in start:
        assert len(parts) == 2  # what is not counted is recorded


def test_the_report_ends_with_what_went_unseen(tmp_path: Path) -> None:
    command = shutil.which("breakeven", path=sysconfig.get_path("scripts"))
    if command is None:
        pytest.skip("the command is not installed here")
    script = tmp_path / "starts.py"
    script.write_text("import subprocess, sys\nsubprocess.run([sys.executable, '-S', '-c', 'pass'])\n")
    done = subprocess.run([command, "run", "--python", sys.executable, str(script)], capture_output=True, text=True)
    assert "Python was started with -S" in done.stderr
    (coverage,) = (line for line in done.stderr.splitlines() if line.startswith("coverage:"))
    assert "1 part unseen" in coverage, done.stderr


@pytest.mark.parametrize("recorder", ["native", "ast"])
@pytest.mark.parametrize("end", ["pass", "sys.exit(3)", "1 / 0", "os._exit(3)"])
def test_a_forked_child_is_recorded_however_it_ends(end: str, recorder: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys\n"
        "import numpy as np\n"
        "a = np.ones(1000)\n"
        "if os.fork() == 0:\n"
        "    for _ in range(3): np.sqrt(a)\n"
        f"    {end}\n"
        "else:\n"
        "    os.wait()\n"
        "    np.cosh(a)\n"
    )
    outcome = running.traced(tmp_path / "run", [str(script)], recorder, tmp_path / "record")
    assert outcome.code == 0, outcome.err.decode()
    workloads = running.workloads(tmp_path / "record")
    counts = [{op["name"]: op["count"] for op in workload["ops"]} for workload in workloads]
    assert sorted((c.get("numpy.sqrt", 0), c.get("numpy.cosh", 0)) for c in counts) == [(0, 1), (3, 0)], counts


@pytest.mark.parametrize(
    "code, unseen",
    [
        ("if os.fork() == 0: os.kill(os.getpid(), 9)\nos.wait()\n", 1),
        ("if os.fork() == 0: os.close(1); os.close(2); time.sleep(20)\n", 1),
        ("if os.fork() == 0: os.execv('/bin/true', ['true'])\nos.wait()\n", 0),
        ("subprocess.run(['true'], preexec_fn=os.getpid)\nif os.fork() == 0: os._exit(0)\nos.wait()\n", 0),
    ],
    ids=["killed", "still running", "another program", "started with a function"],
)
def test_a_forked_child_that_leaves_nothing_is_told(code: str, unseen: int, tmp_path: Path) -> None:
    command = shutil.which("breakeven", path=sysconfig.get_path("scripts"))
    if command is None:
        pytest.skip("the command is not installed here")
    script = tmp_path / "script.py"
    script.write_text(f"import os, subprocess, sys, time\n{code}")
    words = [command, "run", "--python", sys.executable, "--save", str(tmp_path / "w.json"), str(script)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "w.json").read_text())["unseen"]
    assert [(part["reason"], part["count"]) for part in found] == [("child-not-recorded", 1)] * unseen, found


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process of its parent's end")
def test_a_killed_command_takes_the_script_with_it(tmp_path: Path) -> None:
    command = shutil.which("breakeven", path=sysconfig.get_path("scripts"))
    if command is None:
        pytest.skip("the command is not installed here")
    script, note = tmp_path / "long.py", tmp_path / "pid"
    script.write_text(
        "import os, sys, time\n"
        "assert 'BREAKEVEN_PARENT' not in os.environ\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    time.sleep(60)\n"
        "open(sys.argv[1] + '~', 'w').write(f'{os.getpid()} {child}')\n"
        "os.rename(sys.argv[1] + '~', sys.argv[1])\n"
        "time.sleep(60)\n"
    )
    started = subprocess.Popen([command, "run", "--python", sys.executable, str(script), str(note)])
    _until(note.exists)
    pid, child = map(int, note.read_text().split())
    try:
        started.kill()
        started.wait()
        _until(lambda: not _runs(pid))
        assert _runs(child)  # as when the script itself is killed
    finally:
        os.kill(child, signal.SIGKILL)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


def _until(holds: object) -> None:
    end = time.monotonic() + 20
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.02)
