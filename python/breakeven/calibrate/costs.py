"""What libraries spend on the host: small calls, imports, first uses, fresh pages."""

from __future__ import annotations

import importlib
import importlib.util
import json
import mmap
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from .clock import Interval, calls, interval, measured

#: Numbers in the arrays of a small call.
_FEW = 10
#: A fresh process may take so long to import a library, s.
_IMPORT_S = 60.0
#: Bytes of a mapping whose pages are touched.
_PAGES = 64 << 20

Cost = tuple[str, str, Callable[[], Interval]]


def costs() -> Iterator[Cost]:
    """Library, what, and how to measure it: for each library that is installed."""
    for library in ("numpy", "torch", "jax"):
        if _installed(library):
            yield library, "small_call", partial(small_call, library)
    if _installed("cupy"):
        yield "cupy", "startup.import", lambda: imported("cupy")
    yield "system", "page_fault", page_fault


def small_call(library: str) -> Interval:
    """One addition of two arrays of ten numbers on the CPU, s."""
    module = importlib.import_module(library)
    if library == "jax":
        module.config.update("jax_platforms", os.environ.get("JAX_PLATFORMS", "cpu"))
    x = {"numpy": module, "torch": module}.get(library, getattr(module, "numpy", module)).ones(_FEW)
    if library != "torch":
        return measured(calls(lambda: x + x))
    with module.inference_mode():
        return measured(calls(lambda: x + x))


def imported(library: str) -> Interval:
    """Importing a library after NumPy in a fresh process, s."""
    code = f"import numpy, time; t = time.perf_counter(); import {library}; print(time.perf_counter() - t)"
    seconds = []
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=_IMPORT_S, check=True
        )
        seconds.append(float(done.stdout))
    return interval(seconds)


def page_fault() -> Interval:
    """The system's time for one fresh page of memory, s."""

    def sample(n: int) -> float:
        pages = _PAGES // mmap.PAGESIZE
        spent = 0.0
        for _ in range(n):
            with mmap.mmap(-1, _PAGES) as memory:
                if hasattr(memory, "madvise") and hasattr(mmap, "MADV_NOHUGEPAGE"):
                    memory.madvise(mmap.MADV_NOHUGEPAGE)
                start = time.perf_counter()
                memory[:: mmap.PAGESIZE] = b"\1" * pages
                spent += time.perf_counter() - start
        return spent / pages

    seconds = [sample(1) for _ in range(6)]
    return interval(seconds)


def one_thread(side: int, dtype: str) -> Interval:
    """A square product in a fresh process whose BLAS has one thread, s."""
    code = (
        "import sys, json, numpy; from breakeven.calibrate.clock import calls, measured; "
        f"a = numpy.random.default_rng(0).random(({side}, {side})).astype({dtype!r}); "
        "print(json.dumps(measured(calls(lambda: a @ a))))"
    )
    held = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=_IMPORT_S, check=True,
        env={**os.environ, **held, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )  # fmt: skip
    found: Interval = json.loads(done.stdout)
    return found


def _installed(library: str) -> bool:
    try:
        return importlib.util.find_spec(library) is not None
    except (ImportError, ValueError):
        return False


def first_use(work: Callable[[], Any]) -> Interval:
    """The first call of something, s: there is but one of it in a process."""
    start = time.perf_counter()
    work()
    spent = time.perf_counter() - start
    return {"p10": spent, "p50": spent, "p90": spent}
