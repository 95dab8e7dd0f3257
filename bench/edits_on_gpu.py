"""Edits for the GPU on a real one: what each script before and after took. `python bench/edits_on_gpu.py [EDIT …]`

`--set FOLDER` takes the pairs of another folder: `bench/edits`, where `predicted.csv` has what was said before they
ran.

Needs a GPU with CuPy and PyTorch. Each script runs several times in one process; the least time without the first
counts, so that neither start-up nor compilation is in it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

PAIRS = Path(__file__).parents[1] / "python" / "tests" / "advice"
ROUNDS = 5


def times(script: str) -> list[float]:
    """Seconds of each run of `script` in this process."""
    wait = waiter(Path(script).read_text())
    took = []
    for _ in range(ROUNDS):
        wait()
        start = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(script, run_name="__main__")
        wait()
        took.append(time.perf_counter() - start)
    return took


def waiter(text: str) -> Callable[[], object]:
    """Waits for the GPU of the framework that a script uses."""
    if "import cupy" in text:
        import cupy

        return lambda: cupy.cuda.Device().synchronize()
    import torch

    return torch.cuda.synchronize


def least(script: Path) -> float:
    """The least time of one script in a process of its own, s."""
    env = os.environ | {"WORKERS": "2"}
    done = subprocess.run([sys.executable, __file__, "--one", str(script)], env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return float(min(json.loads(done.stdout)[1:]))


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--one"]:
        print(json.dumps(times(arguments[1])))
        return
    pairs = PAIRS
    if arguments[:1] == ["--set"]:
        pairs, arguments = Path(arguments[1]), arguments[2:]
    print("edit,before_ms,after_ms")
    for before in sorted(pairs.glob("*_before.py")):
        name, text = before.name.removesuffix("_before.py"), before.read_text()
        after = pairs / f"{name}_after.py"
        on_a_gpu = "import cupy" in text or "cuda" in text
        if not on_a_gpu or name == "multi_gpu" or (arguments and name not in arguments):
            continue
        try:
            print(f"{name},{least(before) * 1e3:.2f},{least(after) * 1e3:.2f}", flush=True)
        except RuntimeError as error:
            print(f"{name},,  # {error}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
