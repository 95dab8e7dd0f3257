"""A script's clocks wait for the GPU before they are read, so that what the script prints of its own time is true."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from .port.counts import is_users

NAMES = (
    "time", "perf_counter", "monotonic", "process_time", "time_ns", "perf_counter_ns", "monotonic_ns",
    "process_time_ns",
)  # fmt: skip
#: The clock that nobody waits at.
now = time.perf_counter


class Clock:
    """One of `time`'s functions. As those it does not become a method of a class that it is put into."""

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = "time"
        self._plain: Callable[[], Any] = getattr(time, name)

    def __call__(self) -> Any:
        file = sys._getframe(1).f_code.co_filename
        if is_users(file) or file.endswith("/timeit.py") or file.startswith("<timeit"):
            wait()
        return self._plain()

    def __reduce__(self) -> str | tuple[Any, ...]:
        return getattr, (time, self.__name__)

    def __repr__(self) -> str:
        return f"<built-in function {self.__name__}>"


def install() -> None:
    """From now on the script's clocks wait."""
    for name in NAMES:
        setattr(time, name, Clock(name))
    timeit = sys.modules.get("timeit")
    if timeit is not None:
        timeit.default_timer = time.perf_counter  # type: ignore[attr-defined]


def wait() -> None:
    """Until every library that has been imported has done on its GPU what it was asked to."""
    for name, synchronise in _WAITS.items():
        module = sys.modules.get(name)
        if module is not None:
            try:
                synchronise(module)
            except Exception:  # half imported, or without a device: there is nothing to wait for
                pass


def _torch(torch: Any) -> None:
    for backend in ("cuda", "xpu", "mps"):
        part = getattr(torch, backend, None)
        if part is None or (backend == "mps" and not torch.backends.mps.is_available()):
            continue
        if getattr(part, "is_initialized", lambda: True)():
            part.synchronize()


def _cupy(cupy: Any) -> None:
    cupy.cuda.Device().synchronize()


def _jax(jax: Any) -> None:
    for array in jax.live_arrays():
        array.block_until_ready()
    jax.effects_barrier()


def _tensorflow(tensorflow: Any) -> None:
    tensorflow.test.experimental.sync_devices()


_WAITS: dict[str, Callable[[Any], None]] = {"torch": _torch, "cupy": _cupy, "jax": _jax, "tensorflow": _tensorflow}
