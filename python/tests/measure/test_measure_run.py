"""One side: clocks that wait, copies of the folder, what is kept, and what goes wrong."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import measuring
import pytest

#: A library with a GPU that works on after the call has come back, as PyTorch's looks to the runner.
SLOW = """
import os
import threading
from time import sleep
from breakeven.measure.clocks import now
class cuda:
    thread, took = None, 0
    @staticmethod
    def is_initialized():
        return cuda.thread is not None
    @staticmethod
    def synchronize():
        if cuda.thread is not None:
            cuda.thread.join()
class backends:
    class mps:
        is_available = staticmethod(lambda: False)
def manual_seed(seed):
    pass
def matmul():
    began = now()
    def work():
        sleep(float(os.environ.get('DELAY', 0.5)))
        cuda.took = now() - began
    cuda.thread = threading.Thread(target=work, daemon=True)
    cuda.thread.start()
"""


@pytest.mark.timed
@pytest.mark.parametrize("clock", ["perf_counter", "time", "monotonic", "perf_counter_ns"])
def test_asynchronous_call_is_timed_whole(clock: str, tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text(SLOW)
    script = tmp_path / "s.py"
    unit = 1e9 if clock.endswith("ns") else 1
    script.write_text(
        f"from time import {clock} as clock\nimport torch\nbegan = clock()\ntorch.matmul()\n"
        f"print((clock() - began) / {unit}, torch.cuda.took)\n"
    )
    plain = subprocess.run([sys.executable, script], capture_output=True, text=True, env={**os.environ, "DELAY": "60"})
    shown, true = map(float, plain.stdout.split())
    assert shown < 60 and true == 0  # without us the script prints the time of the call, and the work goes on
    told = measuring.side("cpu", script, tmp_path / "out", repeat=2)
    ratios = []
    for number in range(3):
        shown, true = map(float, measuring.printed(told, number).split())
        assert true >= 0.5 and told["runs"][number]["seconds"] >= 0.5
        ratios.append(shown / true)
    # Never the time of the call alone; what else the machine does between the end and the clock only adds.
    assert min(ratios) == pytest.approx(1, rel=0.02) and max(ratios) < 2, ratios


def test_work_that_nobody_waits_for_counts(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text(SLOW)
    script = tmp_path / "s.py"
    script.write_text("import torch\ntorch.matmul()\n")
    assert measuring.side("cpu", script, tmp_path / "out")["runs"][0]["seconds"] >= 0.5


def test_gpu_is_hidden_from_the_cpu_side(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    names = ["CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "JAX_PLATFORMS"]
    script.write_text(f"import os\nprint([os.environ.get(name) for name in {names}])\n")
    assert measuring.printed(measuring.side("cpu", script, tmp_path / "cpu")) == "['', '', 'cpu']\n"


def test_runs_neither_see_nor_overwrite_files_of_each_other(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (place / "kept.txt").write_text("mine")
    (place / "sub").mkdir()
    (place / "sub" / "in.txt").write_text("5")
    script = place / "s.py"
    script.write_text(
        "import os\n"
        "print(os.path.exists('new.txt'), open('kept.txt').read(), open('sub/in.txt').read())\n"
        "open('new.txt', 'w').write('x')\n"
        "open('kept.txt', 'a').write(' and theirs')\n"
    )
    told = measuring.side("cpu", script, tmp_path / "out", repeat=2)
    assert [measuring.printed(told, n) for n in range(3)] == ["False mine 5\n"] * 3
    assert (place / "kept.txt").read_text() == "mine" and not (place / "new.txt").exists()
    assert told["runs"][0]["files"] == ["kept.txt", "new.txt"]


def test_linked_file_becomes_a_copy_when_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "place"
    place.mkdir()
    outside = tmp_path / "outside.txt"
    outside.write_text("whole")
    (place / "link.txt").symlink_to(outside)
    script = place / "s.py"
    script.write_text("open('link.txt', 'a').write('+')\nprint(open('link.txt').read())\n")
    told = measuring.side("cpu", script, tmp_path / "out")
    assert measuring.printed(told) == "whole+\n" and outside.read_text() == "whole"


def test_script_in_a_folder_below_runs_where_the_user_is(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "data.txt").write_text("7")
    (tmp_path / "deep" / "own.py").write_text("x = 3\n")
    (tmp_path / "deep" / "s.py").write_text("import own\nprint(open('data.txt').read(), own.x)\n")
    command = [sys.executable, "-m", "breakeven.measure.run", "--side=cpu", f"--out={tmp_path / 'out'}", "--repeat=0"]
    subprocess.run([*command, "--", "deep/s.py"], cwd=tmp_path, check=True)
    assert (tmp_path / "out" / "run-0" / "stdout").read_text() == "7 3\n"


def test_script_that_fails_says_so_without_frames_of_ours(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text("print('before')\n1 / 0\n")
    told = measuring.side("cpu", script, tmp_path / "out", repeat=2)
    assert [run["exit"] for run in told["runs"]] == [1]
    error = measuring.printed(told, 0, "stderr")
    assert "ZeroDivisionError" in error and "breakeven" not in error.replace(str(tmp_path), "")
    for text, code in (("import sys\nsys.exit(3)\n", 3), ("raise SystemExit('no')\n", 1), ("def\n", 1)):
        script.write_text(text)
        assert measuring.side("cpu", script, tmp_path / f"out{code}{len(text)}")["runs"][0]["exit"] == code


def test_interrupted_run_keeps_those_before_it(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    mark = tmp_path / "mark"
    script.write_text(
        f"import os, time\nfirst = not os.path.exists({str(mark)!r})\nopen({str(mark)!r}, 'a').close()\n"
        "if not first:\n    time.sleep(60)\n"
    )
    command = [sys.executable, "-m", "breakeven.measure.run", "--side=cpu", f"--out={tmp_path / 'out'}", "--repeat=3"]
    process = subprocess.Popen([*command, "--", str(script)], cwd=tmp_path)
    result = tmp_path / "out" / "result.json"
    for _ in range(200):
        if result.exists():
            break
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    runs = json.loads(result.read_text())["runs"]
    assert [run.get("interrupted", False) for run in runs] == [False, True]


def test_arrays_that_find_no_room_are_said(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text("import numpy as np\nlarge = np.zeros(1_000_000)\nsmall = np.zeros(3)\n")

    def little_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    done = measuring.run("cpu", script, tmp_path / "out", preexec_fn=little_room)
    assert done.returncode == 0, done.stderr
    (run,) = json.loads((tmp_path / "out" / "result.json").read_text())["runs"]
    assert list(run["arrays"]) == ["small"] and run["left_out"][0].startswith("large: ")


def test_no_room_for_the_copy_is_one_line(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text("pass\n")
    (tmp_path / "large").write_bytes(os.urandom(1 << 21))

    def little_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    done = measuring.run("cpu", script, tmp_path / "out", preexec_fn=little_room)
    assert done.returncode == 5 and "File too large" in done.stderr and "Traceback" not in done.stderr


def test_cupy_script_has_the_stand_in_for_a_cpu_side(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text("import cupy as cp\na = cp.arange(4.0)\nprint(cp.asnumpy(a * 2))\n")
    told = measuring.side("cpu", script, tmp_path / "out", repeat=1)
    assert measuring.printed(told) == "[0. 2. 4. 6.]\n" and "cupy" in told["libraries"]
    assert told["runs"][0]["arrays"] == {"a": "float64"}
