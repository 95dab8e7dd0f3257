"""What a framework spends on the host: one call per op class, first calls, waits. Rows as in `ports/*_costs.csv`."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

from backends import Backend
from ops import Run

# Small enough that the device is never what takes the time.
CLASSES: dict[str, tuple[str, dict[str, int]]] = {
    "elementwise": ("add", {"b": 1, "h": 64}), "reduce": ("sum", {"b": 1, "h": 64}),
    "scan": ("cumsum", {"b": 1, "h": 64}), "rowwise": ("softmax", {"b": 4, "h": 16}),
    "sort": ("sort", {"b": 1, "h": 64}), "gather": ("gather", {"b": 64, "h": 64}),
    "scatter": ("scatter", {"b": 64, "h": 64}), "copy": ("copy", {"b": 1, "h": 64}),
    "matmul": ("matmul", {"m": 8, "n": 8, "k": 8}),
    "convolution": ("conv", {"b": 1, "cin": 4, "cout": 4, "ksize": 3, "hw": 8, "stride": 1, "pad": 1}),
    "attention": ("attention", {"b": 1, "h": 1, "m": 8, "n": 8, "k": 8}), "fft": ("rfft", {"b": 1, "h": 64}),
    "factor": ("solve", {"b": 1, "n": 8}), "random": ("uniform", {"b": 1, "h": 64}),
}
LIBRARIES = {"startup.cublas": "matmul", "startup.cufft": "fft", "startup.cusolver": "factor",
    "startup.curand": "random"}


def costs(backend: Backend, calls: int = 200) -> list[tuple[str, int, int, int, str, str]]:
    """what, p10, p50, p90 (ns), basis, source. First calls come first: they happen once in a process."""
    rows = []

    def add(what: str, ns: list[float], source: str) -> None:
        ns = sorted(ns)
        at = [round(ns[int(q * (len(ns) - 1))]) for q in (0.1, 0.5, 0.9)]
        rows.append((what, *at, "measured", f"{source}; {backend.versions} on {backend.gpu}".replace(",", " ")))

    prepared: dict[str, Run] = {}
    for name, (op, dims) in CLASSES.items():
        run = backend.prepare(op, "f32", dims)
        if run is None:
            continue
        first = _ns(run, backend.synchronise)
        prepared[name] = run
        library = next((what for what, of in LIBRARIES.items() if of == name), None)
        if backend.device == "cuda" and library is not None:
            add(library, [first], f"first call of {op}: one reading")
    for name, run in prepared.items():
        for _ in range(20):
            run()
        backend.synchronise()
        ns = []
        for _ in range(calls):
            ns.append(_ns(run))
            if len(ns) % 50 == 0:
                backend.synchronise()
        add(f"dispatch.{name}", ns, f"one call of {CLASSES[name][0]} on a few elements")
    if backend.device == "cuda":
        run = prepared["elementwise"]
        for _ in range(20):
            run()
        backend.synchronise()
        waits = []
        for _ in range(calls):
            run()
            waits.append(_ns(backend.synchronise))
        add("latency.sync", waits, "waiting for one small kernel right after its launch")
    return rows


def import_ns(module: str, repeats: int = 3) -> list[float]:
    """Import of a framework in a fresh process, after NumPy, ns."""
    code = f"import numpy, time; t = time.perf_counter_ns(); import {module}; print(time.perf_counter_ns() - t)"
    out = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True) for _ in range(repeats)]
    return [float(done.stdout) for done in out if done.returncode == 0]


def _ns(*calls: Callable[[], object]) -> float:
    start = time.perf_counter_ns()
    for call in calls:
        call()
    return float(time.perf_counter_ns() - start)

