"""What recording costs where it costs most: millions of tiny operations, alternated pairs in one run.

    python bench/recorder/tiny.py [--pairs 9] [--rounds 500000] [--steady 6] [--scalene]

The ratio is of the CPU time that the script itself measures around its loop, so start-up is not in it; start-up is told
apart, as the least of what a script that only imports NumPy takes with and without the recorder. `--steady N` runs the
script with N times the rounds too: what the rounds take that it has more leaves out all that happens once, also what a
profiler does once in the loop. `--scalene` adds Scalene in its default mode to the same alternation.
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
    parser.add_argument("--steady", type=int, default=1, metavar="N")
    parser.add_argument("--scalene", action="store_true")
    options = parser.parse_args()
    script, lengths = str(HERE / "tiny_ops.py"), [options.rounds, options.rounds * options.steady][: options.steady]
    with tempfile.TemporaryDirectory() as folder:
        runners = {"plain": PLAIN, "breakeven": RECORDED}
        if options.scalene:
            runners["scalene"] = scalene(folder)
        took = {rounds: {name: list[float]() for name in runners} for rounds in lengths}
        for _ in range(options.pairs):
            for rounds in lengths:
                for name, runner in runners.items():
                    took[rounds][name].append(seconds(run(runner, script, str(rounds), folder=folder)[0]))
        empty = Path(folder) / "empty.py"
        empty.write_text("import numpy\n")
        start_up: dict[str, list[float]] = {name: [] for name in runners}
        for _ in range(options.pairs):
            for name, runner in runners.items():
                start_up[name].append(run(runner, str(empty), folder=folder)[1])
    more = {name: (min(start_up[name]) - min(start_up["plain"])) * 1e3 for name in runners}
    for rounds in lengths:
        table(f"{4 * rounds:,} operations on 10-element arrays, {options.pairs} alternated runs", 4 * rounds,
            took[rounds])
    if options.steady > 1:
        short, long = (took[rounds] for rounds in lengths)
        steady = {name: [b - a for a, b in zip(short[name], long[name], strict=True)] for name in runners}
        table("what the longer runs have more", 4 * (lengths[1] - lengths[0]), steady)
    print("start-up: " + ", ".join(f"{name} {ms:.0f} ms" for name, ms in more.items() if name != "plain"))


def table(title: str, events: int, took: dict[str, list[float]]) -> None:
    """Prints what each runner took beside the plain one, pair by pair."""
    print(title)
    print(f"{'':12}{'median s':>10}{'ratio':>8}{'ratio of min':>14}{'ns an event':>13}")
    for name in took:
        pairs = statistics.median(t / p for t, p in zip(took[name], took["plain"], strict=True))
        least = min(took[name]) / min(took["plain"])
        event = (min(took[name]) - min(took["plain"])) / events * 1e9
        print(f"{name:12}{statistics.median(took[name]):>10.3f}{pairs:>8.3f}{least:>14.3f}{event:>13.1f}")


if __name__ == "__main__":
    main()
