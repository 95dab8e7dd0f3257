"""CPU time of work that is asked for by its size, and what NumPy and pandas take for it here. Ratios of one run."""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = [
    "--elements 1e5 --operations 200",
    "--elements 1e6 --operations 100",
    "--elements 1e7 --operations 20",
    "--elements 1e8 --operations 4",
    "--elements 3e6 --operations 50 --precision fp64",
    "--elements 3e7 --operations 5 --precision fp64",
    "--matmul 1000",
    "--matmul 4000",
    "--matmul 2000 --precision fp64",
    "--rows 1e6",
    "--rows 1e7 --columns 4",
    "--rows 3e5 --columns 40",
]
#: Rows of a group, as the answer says.
IN_GROUP = 100


def estimated(size: str) -> dict[str, float]:
    command = ["breakeven", "estimate", *size.split(), "--gpu", "l4", "--no-config", "--format", "json"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return dict(answer["baseline"]["time_s"])


def work(size: str) -> Callable[[], Any]:
    """The same in Python, made ready."""
    words = size.split()
    given = dict(zip(words[::2], words[1::2]))
    dtype = np.float64 if given.get("--precision") == "fp64" else np.float32
    random = np.random.default_rng(0)
    if "--matmul" in given:
        n = int(given["--matmul"])
        a, b = random.random((n, n)).astype(dtype), random.random((n, n)).astype(dtype)
        return lambda: a @ b
    if "--rows" in given:
        import pandas as pd

        rows, columns = int(float(given["--rows"])), int(given.get("--columns", 10))
        frame = pd.DataFrame({f"c{i}": random.random(rows).astype(dtype) for i in range(columns)})
        frame["key"] = random.integers(0, rows // IN_GROUP, rows)
        return lambda: frame.groupby("key").sum()
    n, operations = int(float(given["--elements"])), int(given.get("--operations", 1))
    start = np.zeros(n, dtype)

    def elements() -> Any:
        x = start
        for _ in range(operations):
            x = x * 1.5
        return x

    return elements


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    near = within = 0
    print(f"{'size':<50} {'estimated, ms':>22} {'measured, ms':>13}  ratio")
    for size in SIZES:
        run, times = work(size), []
        for _ in range(rounds):
            began = time.perf_counter()
            run()
            times.append(time.perf_counter() - began)
        told, took = estimated(size), statistics.median(times[1:])
        ratio = told["p50"] / took
        near += 1 / 1.5 <= ratio <= 1.5
        within += told["p10"] <= took <= told["p90"]
        interval = f"{1e3 * told['p50']:.1f} [{1e3 * told['p10']:.1f}-{1e3 * told['p90']:.1f}]"
        print(f"{size:<50} {interval:>22} {1e3 * took:>13.1f}  {ratio:.2f}")
    print(f"within 1.5 times: {near} of {len(SIZES)}; in the interval: {within} of {len(SIZES)}")


if __name__ == "__main__":
    main()
