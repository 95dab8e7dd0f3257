"""What recording costs on programs that work on large arrays: the examples, best of N alternated pairs.

    python bench/recorder/examples.py [--pairs 15] [NAME…]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
TINY = {"lose_tiny_arrays", "lose_ping_pong"}


def cpu_seconds(runner: list[str], script: Path, folder: str | None) -> float:
    environment = dict(os.environ)
    if folder:
        environment |= {"BREAKEVEN_RECORD_DIR": folder, "BREAKEVEN_RECORDER": "native"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*runner, str(script)], env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--pairs", type=int, default=15)
    options = parser.parse_args()
    # CuPy and PyTorch are not for everybody, and a stand-in is not measured against what is not there.
    arrays = [p.stem for p in EXAMPLES.glob("*.py") if not p.stem.startswith(("cupy_", "torch_"))]
    names = options.names or sorted(name for name in arrays if name not in TINY)
    print(f"{'':22}{'plain CPU s':>12}{'ratio':>8}{'less start-up':>15}{'events':>9}{'events × ns':>13}")
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.py"
        empty.write_text("import numpy\n")
        recorded = [sys.executable, "-m", "breakeven._run"]
        start_up = min(cpu_seconds(recorded, empty, folder) for _ in range(5)) - min(
            cpu_seconds([sys.executable], empty, None) for _ in range(5)
        )
        for name in names:
            script = EXAMPLES / f"{name}.py"
            plain, seen = [], []
            for _ in range(options.pairs):
                plain.append(cpu_seconds([sys.executable], script, None))
                seen.append(cpu_seconds(recorded, script, folder))
            newest = max(Path(folder).glob("*.breakeven.json"), key=lambda p: p.stat().st_mtime)
            program = json.loads(newest.read_text())["program"]
            share = program["events"] * program["hook_ns"] * 1e-9 / min(plain)
            ratio = min(seen) / min(plain)
            warm = (min(seen) - start_up) / min(plain)
            print(f"{name:22}{min(plain):>12.2f}{ratio:>8.3f}{warm:>15.3f}{program['events']:>9}{share:>13.2%}")
    print(f"start-up of the recorder: {start_up * 1e3:.0f} ms of CPU time")


if __name__ == "__main__":
    main()
