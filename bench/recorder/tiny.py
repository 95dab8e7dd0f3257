"""What recording costs where it costs most: millions of tiny operations, alternated pairs in one run.

    python bench/recorder/tiny.py [--pairs 9] [--rounds 500000] [--scalene]

The ratio is of the CPU time that the script itself measures around its loop, so start-up is not in it; start-up is told
apart, as the least of what a script that only imports NumPy takes with and without the recorder. `--scalene` adds
Scalene in its default mode to the same alternation.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
RECORDED = [sys.executable, "-m", "breakeven._run"]
PLAIN = [sys.executable]


def scalene(folder: str) -> list[str]:
    return [sys.executable, "-m", "scalene", "run", "--outfile", f"{folder}/scalene.json"]


def run(runner: list[str], script: str, *arguments: str, folder: str) -> tuple[str, float]:
    environment = os.environ | {"BREAKEVEN_RECORD_DIR": folder, "BREAKEVEN_RECORDER": "native"}
    if runner is not RECORDED:
        environment.pop("BREAKEVEN_RECORD_DIR")
    start = time.perf_counter()
    done = subprocess.run([*runner, script, *arguments], env=environment, capture_output=True, text=True, check=True)
    return done.stdout, time.perf_counter() - start


def seconds(output: str) -> float:
    return next(float(line) for line in output.splitlines() if line.replace(".", "", 1).isdigit())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--rounds", type=int, default=500_000)
    parser.add_argument("--scalene", action="store_true")
    options = parser.parse_args()
    script, rounds = str(HERE / "tiny_ops.py"), str(options.rounds)
    with tempfile.TemporaryDirectory() as folder:
        runners = {"plain": PLAIN, "breakeven": RECORDED}
        if options.scalene:
            runners["scalene"] = scalene(folder)
        took: dict[str, list[float]] = {name: [] for name in runners}
        for _ in range(options.pairs):
            for name, runner in runners.items():
                took[name].append(seconds(run(runner, script, rounds, folder=folder)[0]))
        empty = Path(folder) / "empty.py"
        empty.write_text("import numpy\n")
        start_up: dict[str, list[float]] = {name: [] for name in runners}
        for _ in range(options.pairs):
            for name, runner in runners.items():
                start_up[name].append(run(runner, str(empty), folder=folder)[1])
    events = 4 * options.rounds
    print(f"{events:,} operations on 10-element arrays, {options.pairs} alternated runs each")
    print(f"{'':12}{'median s':>10}{'ratio':>8}{'ratio of min':>14}{'ns an event':>13}{'start-up ms':>13}")
    for name in runners:
        pairs = statistics.median(t / p for t, p in zip(took[name], took["plain"], strict=True))
        least = min(took[name]) / min(took["plain"])
        event = (min(took[name]) - min(took["plain"])) / events * 1e9
        more = (min(start_up[name]) - min(start_up["plain"])) * 1e3
        print(f"{name:12}{statistics.median(took[name]):>10.3f}{pairs:>8.3f}{least:>14.3f}{event:>13.1f}{more:>13.0f}")


if __name__ == "__main__":
    main()
