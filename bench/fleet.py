"""`breakeven fleet` beside pandas, in one run: the same sums by user, account, partition and application.

    python bench/fleet.py [--jobs 10000000] [--command breakeven] [--folder /tmp]

Needs numpy, pandas and pyarrow. Prints seconds, peak memory and their ratio; whether the hours agree.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

PANDAS = """
import sys, pandas
jobs = pandas.read_parquet(sys.argv[1])
tres = jobs["AllocTRES"].str.extract(r"gres/gpu=(\\d+)")[0].astype(float).fillna(0)
peak = jobs["TRESUsageInMax"].str.extract(r"gres/gpuutil=(\\d+)")[0].astype(float)
memory = jobs["TRESUsageInMax"].str.extract(r"gres/gpumem=(\\d+)")[0].astype(float)
jobs["gpu_h"] = tres * jobs["ElapsedRaw"] / 3600
jobs["cpu_h"] = jobs["AllocCPUS"] * jobs["ElapsedRaw"] / 3600
jobs["wait_h"] = (jobs["Start"] - jobs["Submit"]).dt.total_seconds() / 3600
unused = (tres > 0) & (peak == 0) & (memory == 0) & (jobs["ElapsedRaw"] >= 600)
jobs["freed_h"] = jobs["gpu_h"].where(unused, 0)
jobs["application"] = jobs["JobName"].str.replace(r"\\d+", "#", regex=True)
jobs = jobs.drop_duplicates(["JobID", "Start"])
for key in ("User", "Account", "Partition", "application"):
    jobs.groupby(key)[["gpu_h", "cpu_h", "wait_h", "freed_h"]].sum()
print(jobs["gpu_h"].sum(), jobs["freed_h"].sum())
"""


def write(path: Path, jobs: int) -> None:
    """A log of so many jobs, as `sacct` would tell them, in row groups of a million."""
    import numpy
    import pyarrow
    from pyarrow import parquet

    draw = numpy.random.default_rng(7)
    writer = None
    for first in range(0, jobs, 1_000_000):
        n = min(1_000_000, jobs - first)
        gpus, busy = draw.integers(0, 6, n), draw.integers(0, 4, n)
        tres = ["cpu=8,mem=64G,node=1"] * 2
        tres += [f"cpu=8,gres/gpu:a100={k},gres/gpu={k},mem=64G,node=1" for k in (1, 2, 4, 8)]
        used = [f"cpu=00:10:00,gres/gpumem={b * 400}M,gres/gpuutil={b},mem=2G" for b in (0, 8, 40, 97)]
        start = 1_700_000_000 + first + numpy.arange(n)
        submit = start - draw.integers(0, 90_000, n)

        def names(words: list[str], at: numpy.ndarray | None = None) -> pyarrow.Array:
            codes = draw.integers(0, len(words), n) if at is None else at
            return pyarrow.DictionaryArray.from_arrays(codes.astype("int32"), words).cast("string")

        table = pyarrow.table({
            "JobID": pyarrow.array(first + numpy.arange(n)),
            "User": names([f"user{k}" for k in range(5000)]),
            "Account": names([f"lab{k}" for k in range(300)]),
            "Partition": names(["gpu", "long", "short", "cpu"]),
            "JobName": names([f"{word}{k}" for word in ("train-", "sweep", "md") for k in range(1000)]),
            "State": names(["COMPLETED", "FAILED", "TIMEOUT", "CANCELLED by 77"]),
            "Submit": submit.astype("datetime64[s]"),
            "Start": start.astype("datetime64[s]"),
            "ElapsedRaw": draw.integers(1, 90_000, n),
            "AllocCPUS": draw.integers(1, 64, n),
            "AllocTRES": names(tres, gpus),
            "TRESUsageInMax": names([*used, ""], numpy.where(gpus > 1, busy, 4)),
        })
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def timed(command: list[str]) -> tuple[float, float, str]:
    """Seconds, peak MB and output of a command."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    out = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[0]} failed")
    return time.monotonic() - began, used.ru_maxrss / 1000, out


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--jobs", type=int, default=10_000_000)
    options.add_argument("--command", default="breakeven")
    options.add_argument("--folder", type=Path, default=Path("/tmp"))
    given = options.parse_args()
    path = given.folder / f"jobs-{given.jobs}.parquet"
    if not path.exists():
        write(path, given.jobs)
    command = given.command.split()
    seconds, memory, out = timed([*command, "fleet", str(path), "--format", "json"])
    report = json.loads(out)
    print(f"fleet:  {seconds:.1f} s, {memory:.0f} MB, {given.jobs / seconds / 1e6:.2f} million jobs a second")
    other, its, sums = timed([sys.executable, "-c", PANDAS, str(path)])
    print(f"pandas: {other:.1f} s, {its:.0f} MB: {other / seconds:.1f} times as long")
    hours, freed = map(float, sums.split())
    print("GPU hours:", report["totals"]["gpu_hours"], hours, "freed:", report["certain"]["gpu_hours"], freed)
    print("cores:", len(os.sched_getaffinity(0)))


if __name__ == "__main__":
    main()
