"""Edits for the CPU: what was predicted from the script before, and what the edited script took. Ratios of one run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PAIRS = Path(__file__).parents[1] / "python" / "tests" / "advice"
EDITS = ["vectorise", "float32", "solve", "real_fft", "in_place", "numba", "numexpr", "blas_threads", "columns"]
EDITS += [f"vectorise_{kind}" for kind in ("elements", "function", "matrices", "nested", "pairs", "series")]
ROUNDS = 7


def told(script: Path, threads: int, **more: str) -> dict[str, Any]:
    """The answer to one recording of `script`, with so many BLAS threads."""
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | more | {"OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
        out = Path(folder, "answer.json")
        command = ["breakeven", "run", "--python", sys.executable, "--gpu", "l4", "--exclude-startup"]
        command += ["--format", "json", "--output", str(out)]
        subprocess.run([*command, str(script)], check=True, env=env, capture_output=True)
        return dict(json.loads(out.read_text()))


def warm(answer: dict[str, Any]) -> float:
    """CPU time without start-up, s."""
    return float(answer["baseline"]["time_s"]["p50"] - answer["baseline"]["startup_s"]["p50"])


def main() -> None:
    print(f"{'edit':<20} {'predicted':>10} {'when edited':>12}   predicted time / time when edited")
    for name in EDITS:
        befores, afters = [], []
        pair = "elements" if name == "vectorise_elements" else name
        # More threads are an edit of the environment.
        same = name == "blas_threads"
        after_script = PAIRS / f"{pair}_{'before' if same else 'after'}.py"
        for _ in range(ROUNDS):
            befores.append(told(PAIRS / f"{pair}_before.py", 1))
            afters.append(told(after_script, (os.cpu_count() or 1) if same else 1))
        before, after = min(befores, key=warm), min(afters, key=warm)
        advice = "vectorise" if name.startswith("vectorise") else name.replace("_", "-")
        found = [one for one in before["advice"] if one["id"] == advice and one["side"] == "cpu"]
        if not found:
            print(f"{name:<20} not advised")
            continue
        predicted, was, now = found[0]["time_s_after"]["p50"], warm(before), warm(after)
        if name == "numba":  # loading the compiler and what it has cached is start-up, which NumPy's alone is known as
            now -= min(warm(told(after_script, 1, STEPS="0")) for _ in range(ROUNDS))
        print(f"{name:<20} {was / predicted:>9.2f}× {was / now:>11.2f}×   {predicted / now:.2f}")


if __name__ == "__main__":
    main()
