"""Measures kernels and host costs on this machine: `python accuracy/measure --device cuda --core`."""

from __future__ import annotations

import argparse
import csv
import datetime
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from backends import Backend, driver, found, measure, smi
from cases import FAMILIES, Case, cases, listed
from costs import costs, import_ns
from record import Row, append, done, key


class Lost(Exception):
    """The device fails whatever it is asked."""


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit code."""
    args = parse(arguments)
    backends = found(args.device, args.framework)
    if not backends:
        print(f"error: no framework works on {args.device}: numpy, torch or cupy\n"
              " hint: pip install numpy (CPU), torch or cupy-cuda12x (GPU)", file=sys.stderr)
        return 2
    output = args.output or Path(f"measured-{platform.node()}-{args.device}.csv")
    known = done(output)
    deadline = time.monotonic() + args.budget * 60
    try:
        every = listed(args.table) if args.table else cases(args.device)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    wanted = [c for c in every if (c.core or not args.core) and (args.only in (None, c.family))]
    plan = [(b, c, l2) for c in wanted for b in backends for l2 in caches(args, c)]
    new = 0
    try:
        # First calls are first only in a process that has measured nothing yet.
        if args.costs or not (args.core or args.table):
            write_costs([b for b in backends if not costs_file(output, b).exists()], output)
        for at, (backend, case, l2) in enumerate(plan):
            row = described(backend, case, l2)
            if key(row) in known:
                continue
            if time.monotonic() > deadline:
                print(f"budget of {args.budget:g} min is spent at {at} of {len(plan)}; run again to go on",
                    file=sys.stderr)
                break
            progress(f"{at + 1}/{len(plan)} {backend.name} {case.op} {case.dtype} {l2}")
            row.update(take(backend, case, l2 == "cold", watts_of(args.device)))
            append(output, row)
            known.add(key(row))
            new += 1
    except Lost as error:
        print(f"error: the device no longer answers: {error}\n hint: the same command goes on", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nstopped; {new} new rows are in {output}; the same command goes on", file=sys.stderr)
        return 130
    progress("")
    print(f"{new} new rows, {len(known)} in all, in {output}", file=sys.stderr)
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Arguments."""
    p = argparse.ArgumentParser("python accuracy/measure", description=__doc__)
    p.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    p.add_argument("--framework", choices=("numpy", "cupy", "torch"), help="only this one [default: all that work]")
    p.add_argument("--output", type=Path, help="CSV that is added to [default: measured-HOST-DEVICE.csv]")
    p.add_argument("--core", action="store_true", help="the useful core: a quarter of an hour on a GPU")
    p.add_argument("--costs", action="store_true", help="dispatch and first-call costs too (always without --core and "
                                                        "--table)")
    p.add_argument("--table", type=Path, metavar="FILE", help="the kernels of a CSV with columns op, dims and dtype "
        "instead")
    p.add_argument("--only", choices=FAMILIES, metavar="FAMILY", help=", ".join(FAMILIES))
    p.add_argument("--budget", type=float, default=15.0, metavar="MINUTES", help="stop after this long [15]")
    args = p.parse_args(arguments)
    if not 0 < args.budget < 1e6:
        p.error(f"--budget is {args.budget}; minutes above 0 are allowed")
    return args


def caches(args: argparse.Namespace, case: Case) -> tuple[str, ...]:
    """States of the cache in which a case is measured. A table is measured as most are: warm."""
    if args.table:
        return ("hot",)
    return ("hot", "cold") if case.family != "transfer" else ("cold",)


def described(backend: Backend, case: Case, l2: str) -> Row:
    """The row without its measurement."""
    return {
        "op": case.op, **case.dims, "dtype": case.dtype, "gpu": backend.gpu, "l2": l2, "framework": backend.name,
        "driver": backend.driver or driver(), "versions": backend.versions, "python": platform.python_version(),
        "host": platform.node(), "cores": os.cpu_count(), "date": datetime.date.today().isoformat(),
    }


def take(backend: Backend, case: Case, cold: bool, watts: Callable[[], float | None]) -> Row:
    """Measures; what the framework does not have or cannot hold is noted and not tried again."""
    try:
        run = backend.prepare(case.op, case.dtype, case.dims)
        if run is None:
            return {"note": f"{backend.name} has no such op"}
        load = os.getloadavg()[0]
        return {**measure(backend, run, cold, watts), "load": round(load, 2)}
    except Exception as error:  # Out of memory, an op or dtype that this version lacks: the rest goes on.
        try:
            backend.synchronise()
        except Exception as lost:  # A fault that stays: every row from here on would be blamed for it.
            raise Lost(str(lost)[:120]) from error
        return {"note": f"{type(error).__name__}: {str(error)[:120]}".replace("\n", " ")}


def write_costs(backends: list[Backend], output: Path) -> None:
    """`OUTPUT.FRAMEWORK_costs.csv`, in the form of `crates/breakeven/ports/`; written whole."""
    for backend in backends:
        rows = costs(backend)
        if imports := sorted(import_ns(backend.name)):
            rows.append(("startup.import", *(round(imports[i]) for i in (0, len(imports) // 2, -1)), "measured",
                         f"import in a fresh process; {backend.versions}"))
        path = costs_file(output, backend)
        temporary = path.with_name(path.name + ".new")
        with temporary.open("w", newline="") as file:
            file.write(f"# Host costs of {backend.versions} on {backend.gpu}, ns: what,p10,p50,p90,basis,source\n")
            csv.writer(file, lineterminator="\n").writerows(rows)
        os.replace(temporary, path)


def costs_file(output: Path, backend: Backend) -> Path:
    """Where the host's costs of a framework go."""
    return output.with_name(f"{output.stem}.{backend.name}_costs.csv")


def watts_of(device: str) -> Callable[[], float | None]:
    """Board power just after a measurement, W, where nvidia-smi tells it."""

    def watts() -> float | None:
        text = smi("power.draw") if device == "cuda" else ""
        try:
            return float(text)
        except ValueError:
            return None

    return watts


def progress(text: str) -> None:
    """One line on a terminal."""
    if sys.stderr.isatty():
        print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
