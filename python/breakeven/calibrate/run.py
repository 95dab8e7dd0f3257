"""`python -m breakeven.calibrate.run [--seconds S] [--device KIND] [--done FILE]`: all that is measured, in order.

Each result is a line of JSON on stdout. FILE has the keys of what is known already, a line each: those are left out.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not getattr(sys.flags, "safe_path", sys.flags.isolated):
    del sys.path[0]  # the working folder: modules of the user's are not ours to import

import json
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from . import costs, cpu, gpu
from .clock import Interval, Others, calls, measured
from .cpu import Case

#: Sides of the products that are measured with one thread.
_ONE_THREAD = 1024
#: What is left when this share of the time is gone is not measured.
_RESERVE = 0.97
_INTERRUPTED = 130

Work = tuple[str, str, Callable[[], dict[str, Any]]]


def tell(**what: Any) -> None:
    """One line to whoever started this; raises ValueError for a number that is none."""
    print(json.dumps(what, allow_nan=False), flush=True)


def kernel(case: Case, seconds: Interval, threads: int | None = None) -> dict[str, Any]:
    """A kernel as a machine file has it."""
    own = {"on": case.on, "library": case.library, "op": case.op, "dtype": case.dtype, "read_bytes": case.read}
    held = {} if threads is None else {"threads": threads}
    return {"kernel": {**own, "written_bytes": case.written, "seconds": seconds, **held}}


def everything(device: gpu.Device | None) -> list[Work]:
    """Key, title and measurement of all there is to do: costs and a few of each kind first."""
    work: list[Work] = []

    def cost(library: str, what: str, measure: Callable[[], Interval]) -> None:
        told = lambda: {"cost": {"library": library, "what": what, "seconds": measure()}}  # noqa: E731
        work.append((f"{library} {what}", f"{what.replace('_', ' ')} of {library}", told))

    for library, what, measure in costs.costs():
        cost(library, what, measure)
    if device is not None:
        cost(device.library, "startup.context", lambda: device.start)
        cost(device.library, "dispatch.elementwise", lambda: gpu.dispatch(device))
        for case in in_turn(gpu.cases(device)):
            copied = "transfer" in case.op
            work.append((case.key, case.title, partial(_on_gpu, device, case, copied)))
    for dtype in ("f32", "f64"):
        case = next(c for c in cpu.cases() if c.op.get("matmul", {}).get("m") == _ONE_THREAD and c.dtype == dtype)
        work.append((case.key + " 1 thread", case.title + " in one thread", partial(_in_one_thread, case)))
    for case in in_turn(cpu.cases()):
        work.append((case.key, case.title, partial(_on_cpu, case)))
    return work


def _on_gpu(device: gpu.Device, case: Case, copied: bool) -> dict[str, Any]:
    return kernel(case, device.time(case.make(), copied))


def _in_one_thread(case: Case) -> dict[str, Any]:
    return kernel(case, costs.one_thread(_ONE_THREAD, cpu.DTYPES[case.dtype]), 1)


def _on_cpu(case: Case) -> dict[str, Any]:
    return kernel(case, measured(calls(case.make())))


def in_turn(cases: Iterable[Case]) -> list[Case]:
    """The first of each kind of work, then the second of each, so that what no time is left for is a little of each."""
    seen: Counter[tuple[str, str, str, bool]] = Counter()
    placed = []
    for case in cases:
        ((family, dims),) = case.op.items()
        kind = (family, str(dims.get("kind", dims.get("direction", ""))), case.dtype, bool(dims.get("transcendental")))
        placed.append((seen[kind], case))
        seen[kind] += 1
    return [case for _, case in sorted(placed, key=lambda pair: pair[0])]


def main(arguments: list[str]) -> int:
    """The exit code: 0, or 130 where Ctrl-C came."""
    given = dict(word.removeprefix("--").split("=", 1) for word in arguments)
    ends = time.monotonic() + _RESERVE * float(given.get("seconds", "240"))
    done = set(Path(given["done"]).read_text().splitlines()) if "done" in given else set()
    others = Others()
    warnings.simplefilter("ignore")
    wanted = given.get("device")
    device, why = (None, ["not asked for"]) if wanted == "none" else gpu.found(wanted)
    if device is None:
        tell(no_gpu="; ".join(why))
    else:
        idle = device.watts()
        board = {"name": device.name, "library": f"{device.library} {device.module.__version__}", "idle_w": idle}
        tell(gpu={**board, "busy_w": None}, real=device.kind != "cpu")
    work = everything(device)
    tell(total=len(work), known=sum(key in done for key, _, _ in work))
    lost = busy = None
    for key, title, measure in work:
        if key in done or (lost is not None and key.startswith("gpu ")):
            continue
        if time.monotonic() > ends:
            tell(skipped=key, why="no time was left")
            continue
        tell(now=title)
        try:
            tell(key=key, **measure())
        except gpu.HostBound:
            tell(skipped=key, why="shorter than its launch")
        except MemoryError:
            tell(skipped=key, why="no memory was left")
        except Exception as error:  # What a version lacks, or a device that is full or gone: the rest goes on.
            tell(skipped=key, why=(str(error).split("\n")[0] or type(error).__name__)[:160])
            if device is not None and key.startswith("gpu ") and not answers(device):
                lost = str(error).split("\n")[0][:160]
                tell(lost=lost)
        if device is not None and busy is None and key.startswith("gpu ") and "matmul" in key:
            busy = device.watts()
            tell(busy_w=busy)
    tell(busy=others.share())
    return 0


def answers(device: gpu.Device) -> bool:
    """Whether the device still computes."""
    try:
        device.array("f32", 2)
        device.wait()
    except Exception:
        return False
    return True


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
