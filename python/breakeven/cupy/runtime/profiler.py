"""`cupyx.profiler`: a function called often, and what it took here."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _native
from ..core import streams
from ..core.devices import Device


class _PerfCaseResult:
    def __init__(self, name: str, cpu: list[float], gpu: list[float]) -> None:
        self.name = name
        self._ts = np.array([cpu, gpu])
        self._devices = (0,)

    @property
    def cpu_times(self) -> Any:
        return self._ts[0]

    @property
    def gpu_times(self) -> Any:
        return self._ts[1:]

    @staticmethod
    def _to_str_per_item(device_name: str, t: Any) -> str:
        t_us = t * 1e6
        line = f"    {device_name}: {t_us.mean():9.03f} us"
        if t.size > 1:
            line += f"   +/- {t_us.std():6.03f} (min: {t_us.min():9.03f} / max: {t_us.max():9.03f}) us"
        return line

    def to_str(self, show_gpu: bool = False) -> str:
        shown = [self._to_str_per_item("CPU", self._ts[0])]
        if show_gpu:
            shown.append(self._to_str_per_item("GPU-0", self._ts[1]))
        return f"{self.name:<20s}:" + " ".join(shown)

    def __str__(self) -> str:
        return self.to_str(show_gpu=True)

    __repr__ = __str__


def benchmark(
    func: Callable[..., Any], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None, n_repeat: int = 10000,
    *,
    name: str | None = None, n_warmup: int = 10, max_duration: float = math.inf, devices: Any = None,
) -> _PerfCaseResult:  # fmt: skip
    """Times of `func`, each call waited for. They are those of this machine's CPU."""
    if not isinstance(args, tuple):
        raise ValueError("`args` should be of tuple type.")
    for _ in range(n_warmup):
        func(*args, **(kwargs or {}))
    end = streams.Event()
    end.record()
    end.synchronize()
    cpu, gpu, total = [], [], 0.0
    for _ in range(n_repeat):
        began = _native.clock_ns()
        func(*args, **(kwargs or {}))
        took = (_native.clock_ns() - began) * 1e-9
        end.record()
        end.synchronize()
        cpu.append(took)
        gpu.append(took)
        total += (_native.clock_ns() - began) * 1e-9
        if total >= max_duration:
            break
    return _PerfCaseResult(name or str(getattr(func, "__name__", "unnamed")), cpu, gpu)


class time_range:
    """A named range for profilers, as a block or around a function; at both its ends the host waits if asked to."""

    __module__ = "cupyx.profiler"

    def __init__(self, message: Any = None, color_id: Any = None, argb_color: Any = None, sync: bool = False) -> None:
        if color_id is not None and argb_color is not None:
            raise ValueError("Only either color_id or argb_color can be specified")
        self.message, self.sync = message, sync
        self.color_id, self.argb_color = -1 if color_id is None else color_id, argb_color

    def __enter__(self) -> time_range:
        if self.message is None:
            raise ValueError("when used as a context manager, the message argument cannot be None")
        self._wait()
        return self

    def __exit__(self, *error: object) -> None:
        self._wait()

    def _wait(self) -> None:
        if self.sync:
            Device().synchronize()

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def inner(*args: Any, **kwargs: Any) -> Any:
            self.message = func.__name__ if self.message is None else self.message
            with self:
                return func(*args, **kwargs)

        return inner
