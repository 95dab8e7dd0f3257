"""Error of modelled CPU times on the examples of `estimate.py`, without and with a machine file of this machine.

    breakeven calibrate --cpu-only --output machine.json
    python bench/calibrate.py machine.json [--rounds N] [--write FILE]

Each example runs N times; the fastest quarter's slowest run counts, by the shorter of wall and CPU time, for other
programs only ever make a run longer.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import statistics
import subprocess
import time
from pathlib import Path

from estimate import SIZES, work


def estimated(size: str, machine: Path | None) -> dict[str, float]:
    command = ["breakeven", "estimate", *size.split(), "--gpu", "l4", "--no-config", "--format", "json"]
    command += [] if machine is None else ["--machine", str(machine)]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return dict(answer["baseline"]["time_s"])


def took(size: str, rounds: int) -> float:
    run, times = work(size), []
    run()
    for _ in range(rounds):
        began, spent = time.perf_counter(), time.process_time()
        run()
        times.append(min(time.perf_counter() - began, time.process_time() - spent))
    return sorted(times)[len(times) // 4]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("machine", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--write", type=Path, help="also add a line to this CSV file")
    given = parser.parse_args()
    errors: list[tuple[float, float]] = []
    inside = [0, 0]
    print(f"{'size':<46} {'measured, ms':>13} {'before, ms':>11} {'after, ms':>10}  ratios")
    for size in SIZES:
        seconds = took(size, given.rounds)
        told = [estimated(size, machine) for machine in (None, given.machine)]
        ratios = [t["p50"] / seconds for t in told]
        errors.append(tuple(abs(math.log(ratio)) for ratio in ratios))  # type: ignore[arg-type]
        inside = [n + (t["p10"] <= seconds <= t["p90"]) for n, t in zip(inside, told, strict=True)]
        times = " ".join(f"{1e3 * t['p50']:>10.1f}" for t in told)
        print(f"{size:<46} {1e3 * seconds:>13.1f} {times}  {ratios[0]:.2f} {ratios[1]:.2f}", flush=True)
    file = json.loads(given.machine.read_text())
    mean = [math.expm1(statistics.mean(e[i] for e in errors)) for i in (0, 1)]
    median = [math.expm1(statistics.median(e[i] for e in errors)) for i in (0, 1)]
    row = {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(), "cpu": file["machine"]["cpu"],
        "threads": file["machine"]["cpu_threads"], "others_had": round(file["busy"] or 0, 2), "examples": len(errors),
        "mean_before": round(mean[0], 3), "mean_after": round(mean[1], 3), "median_before": round(median[0], 3),
        "median_after": round(median[1], 3), "in_interval_before": inside[0], "in_interval_after": inside[1],
        "ratio": round(mean[1] / mean[0], 2),
    }  # fmt: skip
    print("; ".join(f"{name} {value}" for name, value in row.items()))
    if given.write:
        new = not given.write.exists()
        with given.write.open("a") as out:
            out.write((",".join(row) + "\n" if new else "") + ",".join(str(v) for v in row.values()) + "\n")


if __name__ == "__main__":
    main()
