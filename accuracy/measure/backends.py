"""The frameworks that are there: how an op is prepared, timed, and what the machine is called."""

from __future__ import annotations

import functools
import importlib
import platform
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ops import Run, on_arrays, on_tensors

SAMPLES = 9
"""Samples of one case; their median counts."""
SAMPLE_S = 0.02
"""Seconds of one sample at least, so that no clock and no launch hides the kernel."""
QUEUED = 100
"""Runs of one sample at most on a GPU. A stream holds about a thousand launches; beyond, it waits for the host."""


class Backend:
    """One framework on one device. `launch` prepares an op, `sample` times `n` runs of it in seconds."""

    def __init__(self, name: str, module: Any, device: str) -> None:
        self.name, self.module, self.device = name, module, device
        self.versions = f"{name} {module.__version__}"
        self.gpu, self.driver = _cpu_name(), ""
        if device == "cuda":
            self._describe_gpu()
        self.cpu_s: list[float] = []
        self._flush: Run | None = None
        self._ballast: Run | None = None

    def prepare(self, op: str, dtype: str, dims: dict[str, int]) -> Run | None:
        """The op as a call, or nothing where the framework does not have it."""
        if self.name == "torch":
            self._allow_tf32(dtype == "tf32")
        return self._call(op, dtype, dims)

    def _call(self, op: str, dtype: str, dims: dict[str, int]) -> Run | None:
        if self.name == "torch":
            return on_tensors(self.module, self.device, op, dtype, dims)
        return on_arrays(self.module, op, dtype, dims)

    def _allow_tf32(self, allowed: bool) -> None:
        """Convolutions in fp32 take TF32 unless they are told not to; here fp32 means fp32."""
        self.module.backends.cudnn.allow_tf32 = self.module.backends.cuda.matmul.allow_tf32 = allowed

    def synchronise(self) -> None:
        """Waits for the device."""
        if self.device == "cuda":
            (self.module.cuda.synchronize if self.name == "torch" else self.module.cuda.Device().synchronize)()

    def flush(self) -> None:
        """Writes more than a GPU's last-level cache holds (256 MiB at most), and a core of a CPU reaches."""
        if self._flush is None:
            n = 1 << 29
            if self.name == "torch":
                scratch = self.module.empty(n, dtype=self.module.int8, device=self.device)
                self._flush = scratch.zero_
            else:
                scratch = self.module.empty(n, dtype="int8")
                self._flush = lambda: scratch.fill(0)
        self._flush()

    def sample(self, run: Run, n: int, host_s: float) -> float:
        """Seconds of `n` runs. On a GPU they are queued behind work that outlasts the queueing (`host_s`), so that the
        device never waits for the host."""
        if self.device == "cpu":
            start, spent = time.perf_counter(), time.process_time()
            for _ in range(n):
                run()
            self.cpu_s.append((time.process_time() - spent) / n)
            return time.perf_counter() - start
        self._occupy(2 * host_s + 1e-3)
        begin, end = self._event(), self._event()
        begin.record()
        for _ in range(n):
            run()
        end.record()
        self.synchronise()
        if self.name == "torch":
            return float(begin.elapsed_time(end)) * 1e-3
        return float(self.module.cuda.get_elapsed_time(begin, end)) * 1e-3

    def _event(self) -> Any:
        return self.module.cuda.Event(enable_timing=True) if self.name == "torch" else self.module.cuda.Event()

    def _occupy(self, seconds: float) -> None:
        """Queues some seconds of products and does not wait. Those in half precision take as long whether or not
        fp32 may be computed in TF32."""
        if self._ballast is None:
            run = self._call("matmul", "f16", {"m": 4096, "n": 4096, "k": 4096})
            assert run is not None
            run()
            self.synchronise()
            start = time.perf_counter()
            run()
            self.synchronise()
            self._ballast, self._ballast_s = run, time.perf_counter() - start
        for _ in range(int(seconds / self._ballast_s) + 1):
            self._ballast()

    def _describe_gpu(self) -> None:
        if self.name == "torch":
            self.gpu = self.module.cuda.get_device_name()
            self._allow_tf32(False)
            self.versions += f" cuda {self.module.version.cuda or self.module.version.hip}"
        else:
            runtime = self.module.cuda.runtime
            self.gpu = runtime.getDeviceProperties(0)["name"].decode()
            self.versions += f" cuda {runtime.runtimeGetVersion()}"
            self.driver = str(runtime.driverGetVersion())


def found(device: str, wanted: str | None = None) -> list[Backend]:
    """The frameworks that work on `device`, in the order in which they are measured."""
    backends = []
    for name in ("cupy", "torch", "numpy"):
        if wanted not in (None, name) or (name == "numpy") != (device == "cpu") and name != "torch":
            continue
        try:
            module = importlib.import_module(name)
            if device == "cpu" or name == "cupy" and module.cuda.runtime.getDeviceCount() or (
                name == "torch" and module.cuda.is_available()
            ):
                backends.append(Backend(name, module, device))
        except Exception:  # A framework that does not work here is as good as none: drivers fail in many ways.
            continue
    return backends


def measure(backend: Backend, run: Run, cold: bool, watts: Callable[[], float | None]) -> dict[str, float | int | None]:
    """Median and spread of the time of one run, µs, with how often it ran."""
    run()
    run()
    backend.synchronise()
    start = time.perf_counter()
    run()
    host = time.perf_counter() - start
    backend.synchronise()
    once = max(time.perf_counter() - start, 1e-7)
    backend.cpu_s.clear()
    if cold:
        n, seconds = 1, [_cold(backend, run, once) for _ in range(SAMPLES)]
    else:
        most = 10_000 if backend.device == "cpu" else QUEUED
        n = max(1, min(most, int(SAMPLE_S / once)))
        n = max(n, min(most, int(SAMPLE_S / max(backend.sample(run, n, n * host) / n, 1e-7))))
        seconds = [backend.sample(run, n, n * host) / n for _ in range(SAMPLES)]
    seconds.sort()
    if seconds[len(seconds) // 2] <= 0.0:
        raise ValueError("too short to be told from the writing between the runs")
    at = lambda q: round(seconds[int(q * (len(seconds) - 1))] * 1e6, 4)  # noqa: E731
    return {"latency_us": at(0.5), "latency_us_p10": at(0.1), "latency_us_p90": at(0.9), "launches": n,
            "samples": len(seconds), "cpu_us": _median_us(backend.cpu_s[-SAMPLES:]), "watts": watts()}


def _median_us(seconds: list[float]) -> float | None:
    return round(sorted(seconds)[len(seconds) // 2] * 1e6, 4) if seconds else None


def _cold(backend: Backend, run: Run, once: float) -> float:
    if backend.device == "cpu":
        backend.flush()
        return backend.sample(run, 1, 0.0)

    def both() -> None:
        backend.flush()
        run()

    n = max(4, min(QUEUED, int(SAMPLE_S / once)))
    return max(backend.sample(both, n, n * 1e-4) - backend.sample(backend.flush, n, n * 1e-4), 0.0) / n


@functools.cache
def driver() -> str:
    """The driver's version where nvidia-smi tells it."""
    return smi("driver_version")


def smi(what: str) -> str:
    """What nvidia-smi says of the first GPU; nothing where it is not there."""
    try:
        command = ["nvidia-smi", f"--query-gpu={what}", "--format=csv,noheader,nounits", "--id=0"]
        return subprocess.run(command, capture_output=True, text=True, timeout=5, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
