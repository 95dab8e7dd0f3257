"""Ops of CuPy, PyTorch or JAX on a device, copies to it and back, and the device's name and power."""

from __future__ import annotations

import importlib
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

from .clock import Interval, measured
from .costs import first_use
from .cpu import WIDTH, Case, Op, Run, elementwise

#: Where handing the runs over takes more than this share of the time, the host was timed and not the device.
HOST_BOUND = 0.7
#: Libraries in the order in which they are tried, with the kinds of device that each may have.
LIBRARIES = {"torch": ("cuda", "xpu", "mps"), "cupy": ("cuda",), "jax": ("gpu",)}
NAMES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16"}


class HostBound(Exception):
    """The device was done before the host had handed over the next run."""


class Device:
    """One device of one library. `kind` is `cuda`, `xpu`, `mps`, `gpu`, or `cpu`, which is no GPU."""

    def __init__(self, library: str, kind: str, index: int = 0) -> None:
        self.library, self.kind, self.index = library, kind, index
        self.module = importlib.import_module(library)
        self.place: Any = None
        self.start = first_use(self._begin)
        self.name = self._name()

    @property
    def xp(self) -> Any:
        """The module that has NumPy's names, or PyTorch's."""
        return self.module.numpy if self.library == "jax" else self.module

    def _begin(self) -> None:
        if self.library == "torch":
            self.place = self.module.device(self.kind if self.kind in ("cpu", "mps") else f"{self.kind}:{self.index}")
        elif self.library == "cupy":
            self.module.cuda.Device(self.index).use()
        else:
            self.place = self.module.devices(self.kind)[self.index]
            self.module.config.update("jax_default_device", self.place)
        self.array("f32", 2)
        self.wait()

    def waited(self, run: Run) -> Run:
        """The same, at an end only when the device is."""

        def both() -> None:
            run()
            self.wait()

        return both

    def _name(self) -> str:
        if self.library == "torch" and self.kind in ("cuda", "xpu"):
            return str(getattr(self.module, self.kind).get_device_name(self.index))
        if self.library == "cupy":
            return str(self.module.cuda.runtime.getDeviceProperties(self.index)["name"].decode())
        return str(getattr(self.place, "device_kind", None) or self.kind)

    def wait(self) -> None:
        """Waits for all that was handed over."""
        if self.library == "torch" and self.kind != "cpu":
            getattr(self.module, self.kind).synchronize()
        elif self.library == "cupy":
            self.module.cuda.get_current_stream().synchronize()

    def array(self, dtype: str, *shape: int) -> Any:
        """Random numbers from 0.5 to 1.5 on the device."""
        if self.library == "torch":
            kind = getattr(self.module, NAMES[dtype])
            return (self.module.rand(shape, device=self.place) + 0.5).to(kind)
        if self.library == "cupy":
            return (self.module.random.random(shape, dtype="float32") + 0.5).astype(NAMES[dtype])
        ones = self.module.random.uniform(self.module.random.key(0), shape, minval=0.5, maxval=1.5)
        return ones.astype(NAMES[dtype])

    def compiled(self, run: Callable[..., Any], *arguments: Any) -> Run:
        """A run of `run` on `arguments`; JAX compiles it and waits for it."""
        if self.library != "jax":
            return lambda: run(*arguments)
        whole = self.module.jit(run)
        return lambda: whole(*arguments).block_until_ready()

    def time(self, run: Run, may_be_host: bool = False) -> Interval:
        """The device's time of one run, s, of many that wait for each other in its queue."""
        host = [0.0]

        def sample(n: int) -> float:
            self.wait()
            start = time.perf_counter()
            for _ in range(n):
                run()
            host[0] = time.perf_counter() - start
            self.wait()
            whole = time.perf_counter() - start
            host[0] /= whole
            return whole

        found = measured(sample)
        waits_itself = may_be_host or self.library == "jax" or self.kind == "cpu"
        if host[0] > HOST_BOUND and not waits_itself:
            raise HostBound
        return found

    def watts(self) -> float | None:
        """Board power of NVIDIA's first GPU at this moment, W; None where the driver does not tell."""
        if self.kind not in ("cuda", "gpu"):
            return None
        command = ["nvidia-smi", "--query-gpu=power.draw", "--format=csv,noheader,nounits", f"--id={self.index}"]
        try:
            return float(subprocess.run(command, capture_output=True, text=True, timeout=5, check=True).stdout)
        except (OSError, ValueError, subprocess.SubprocessError):
            return None


def found(wanted: str | None) -> tuple[Device | None, list[str]]:
    """The device to measure, and why there is none: `wanted` is a kind (`cuda`), one of several (`cuda:1`), or None."""
    kind, _, index = (wanted or "").partition(":")
    why = []
    for library, kinds in LIBRARIES.items():
        for of in kinds:
            if wanted and kind != of and not (kind == "cpu" and library != "cupy" and of == kinds[0]):
                continue
            try:
                importlib.import_module(library)
            except ImportError:
                break
            try:
                return Device(library, kind or of, int(index or 0)), []
            except Exception as error:  # Drivers fail in many ways: each is a reason, and the next library may do.
                why.append(f"{library}: {_short(error)}")
    return None, why or ["none of CuPy, PyTorch and JAX is installed"]


def _short(error: Exception) -> str:
    return (str(error).strip().split("\n")[0] or type(error).__name__)[:120]


def cases(device: Device) -> Iterator[Case]:
    """Kernels of the device, then copies."""
    small = device.kind == "cpu"
    dtypes = ["f32", "f16", "bf16"] + ([] if device.kind == "mps" else ["f64"])
    if device.library == "cupy":
        dtypes.remove("bf16")
    if device.library == "jax":
        dtypes.remove("f64")
    for dtype in dtypes[:1] if small else dtypes:
        yield from _kernels(device, dtype, small)
    yield from _copies(device, small)


def _kernels(device: Device, dtype: str, small: bool) -> Iterator[Case]:
    xp, width, library = device.xp, WIDTH[dtype], device.library

    def case(op: Op, read: int, written: int, make: Callable[[], Run]) -> Case:
        return Case(library, op, dtype, width * read, width * written, make, "gpu")

    squares = (128, 256) if small else (1024, 1536, 2048, 3072, 4096) + ((8192,) if dtype != "f64" else ())
    for side in squares:

        def product(side: int = side) -> Run:
            a, b = device.array(dtype, side, side), device.array(dtype, side, side)
            return device.compiled(lambda a, b: a @ b, a, b)

        op = {"matmul": {"m": side, "n": side, "k": side, "batch": 1, "bias": False}}
        yield case(op, 2 * side * side, side * side, product)
    sizes = (10_000, 100_000) if small else (1 << 20, 1 << 22, 1 << 24, 3 << 24, 1 << 27)
    for n in sizes:

        def over(what: Callable[..., Any], inputs: int = 1, n: int = n) -> Callable[[], Run]:
            return lambda: device.compiled(what, *(device.array(dtype, n) for _ in range(inputs)))

        yield case(elementwise(n, 1, 1.0), n, n, over(lambda x: x * 1.5))
        yield case(elementwise(n, 2, 1.0), 2 * n, n, over(lambda x, y: x + y, 2))
        yield case(elementwise(n, 1, 27.0, True), n, n, over(xp.exp))
        yield case({"reduce": {"n": n, "out": 1, "flop_per_element": 1.0}}, n, 1, over(lambda x: x.sum()))
        if dtype in ("f32", "f64"):
            yield case({"scan": {"rows": 1, "width": n}}, n, n, over(lambda x: xp.cumsum(x, 0)))
            if n <= 1 << 24:
                ordered = {"sort": {"kind": "sort", "rows": 1, "width": n}}
                yield case(ordered, n, n, over(lambda x: xp.sort(x)))
    for rows in (64,) if small else (1024, 4096, 16384):

        def rowwise(rows: int = rows) -> Run:
            x = device.array(dtype, rows, 1024)
            soft = device.module.softmax if library == "torch" else device.module.nn.softmax
            return device.compiled(lambda x: soft(x, -1), x)

        def turned(rows: int = rows) -> Run:
            x = device.array(dtype, rows, 1024)
            if library == "torch":
                return lambda: x.t().contiguous()
            return device.compiled(lambda x: xp.ascontiguousarray(x.T) if library == "cupy" else x.T.copy(), x)

        n = rows * 1024
        if library != "cupy":
            yield case({"rowwise": {"kind": "softmax", "rows": rows, "width": 1024}}, n, n, rowwise)
        yield case({"copy": {"n": n, "strided": True}}, n, n, turned)


def _copies(device: Device, small: bool) -> Iterator[Case]:
    import numpy as np

    for n in (1 << 10, 1 << 16) if small else (1 << 10, 1 << 20, 1 << 24, 1 << 28):
        if device.library == "jax":
            return
        locked = (False, True) if device.library == "torch" and device.kind == "cuda" else (False,)
        for direction in ("h2d", "d2h"):
            for pinned in locked:

                def make(n: int = n, direction: str = direction, pinned: bool = pinned) -> Run:
                    there = device.array("f32", n // 4)
                    if device.library == "cupy":
                        here = np.ones(n // 4, "float32")
                        return (lambda: there.set(here)) if direction == "h2d" else lambda: there.get()
                    host = device.module.ones(n // 4, pin_memory=pinned)
                    if direction == "h2d":
                        return device.waited(lambda: there.copy_(host))
                    return device.waited(lambda: host.copy_(there)) if pinned else there.cpu

                dims = {"direction": direction, "bytes": n, "pinned": pinned, "asynchronous": False}
                yield Case(device.library, {"transfer": dims}, "f32", n, n, make, "gpu")


def dispatch(device: Device) -> Interval:
    """The host's time of handing over one small op, s."""
    x = device.array("f32", 10)
    run = device.compiled(lambda x: x + x, x)

    def sample(n: int) -> float:
        spent = 0.0
        for _ in range(0, n, 100):
            start = time.perf_counter()
            for _ in range(min(n, 100)):
                run()
            spent += time.perf_counter() - start
            # A queue that is full would make the host wait.
            device.wait()
        return spent * n / (100 * -(-n // 100)) if n >= 100 else spent

    return measured(sample)
