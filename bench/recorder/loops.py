"""What recording a training loop with a `DataLoader` costs in its steady state, alternated pairs in one run.

    python bench/recorder/loops.py [--pairs 5] [--steps 400]

Wall and processor time of a step after the first 20, as the script itself measures them, one thread; processes of the
loader are in the wall time alone.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from tiny import PLAIN, RECORDED, run

SCRIPT = str(Path(__file__).parent / "loop_steps.py")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=400)
    options = parser.parse_args()
    print(f"{'net, workers':14}{'plain µs':>10}{'wall':>8}{'of min':>8}{'CPU µs':>10}{'CPU':>8}{'of min':>8}")
    for net in ("small", "reads", "middle"):
        for workers in ("0", "2"):
            took: dict[str, list[tuple[float, ...]]] = {"plain": [], "recorded": []}
            for _ in range(options.pairs):
                for name, runner in (("plain", PLAIN), ("recorded", RECORDED)):
                    with tempfile.TemporaryDirectory() as folder:
                        told, _ = run(runner, SCRIPT, net, workers, str(options.steps), folder=folder)
                    took[name].append(tuple(map(float, told.split())))
            line = f"{net + ', ' + workers:14}"
            for plain, recorded in zip(zip(*took["plain"]), zip(*took["recorded"])):
                pairs = statistics.median(r / p for r, p in zip(recorded, plain))
                line += f"{min(plain):>10.0f}{pairs:>8.3f}{min(recorded) / min(plain):>8.3f}"
            print(line)


if __name__ == "__main__":
    main()
