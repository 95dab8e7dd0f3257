"""Launches of `@cuda.jit` under `--pretend-gpu`: Numba's simulator stands for the GPU, and kernels whose threads do not
wait for each other run as compiled loops over threads, which are recorded as what Numba compiles."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy

from .. import _native
from .threads import loop_of
from .values import NotTold

_PLAIN = (bool, int, float, complex, numpy.generic)
#: Kernels that are kept; those beyond run in the simulator.
_MOST = 1024
_loops: dict[object, Any] = {}
_said: set[str] = set()


def simulated() -> None:
    """The simulator is Numba's GPU from now on; it must not have been asked for one yet."""
    from numba.core import config

    if os.environ.get("BREAKEVEN_PRETEND_GPU"):
        config.ENABLE_CUDASIM = 1


def hook(_: str) -> None:
    """Numba's simulator has been imported: its launches come by here."""
    from numba.cuda.simulator.kernel import FakeCUDAKernel

    plain = FakeCUDAKernel.__call__

    def __call__(self: Any, *args: object) -> object:
        loop = None if self._device or self.extensions or not _native.recording() else _loop(self.fn)
        given = None if loop is None else _arrays(args)
        shape = [*_three(self.grid_dim), *_three(self.block_dim)]
        if loop is not None and given is not None and _compiles(self.fn, loop, [*given, *shape]):
            loop(*given, *shape)
            return None
        began = time.perf_counter_ns()
        result = plain(self, *args)
        if not self._device and _native.recording():
            _native.unseen("numba-simulated", _why(self.fn), time.perf_counter_ns() - began)
        return result

    FakeCUDAKernel.__call__ = __call__


def _three(dims: tuple[int, ...]) -> list[int]:
    """A grid or a block of three axes."""
    return [int(length) for length in (*dims, 1, 1)[:3]]


def _loop(kernel: Any) -> Any:
    """The compiled loop over a kernel's threads, made once; None where it has none."""
    if kernel not in _loops and len(_loops) < _MOST:
        try:
            _loops[kernel] = loop_of(kernel)
        except NotTold as why:
            _loops[kernel] = why
        except Exception as error:
            _loops[kernel] = NotTold(f"breakeven failed to read it ({type(error).__name__}: {error})")
    found = _loops.get(kernel)
    return None if isinstance(found, NotTold) else found


def _compiles(kernel: Any, loop: Any, given: list[object]) -> bool:
    """Whether the loop compiles for these arguments: if not, the simulator runs them, before anything else has."""
    from numba import typeof
    from numba.core.errors import NumbaError

    try:
        loop.compile(tuple(map(typeof, given)))
    except (NumbaError, NotImplementedError, ValueError) as error:
        _loops[kernel] = NotTold(f"it does not compile for the CPU ({str(error).splitlines()[0][:100]})")
        return False
    return True


def _arrays(args: tuple[object, ...]) -> list[object] | None:
    """The arguments as NumPy's arrays and numbers; None where one is something else."""
    found: list[object] = []
    for item in args:
        array = getattr(item, "_ary", item)
        if not isinstance(array, (numpy.ndarray, *_PLAIN)):
            return None
        found.append(array)
    return found


def _why(kernel: Any) -> str:
    why = _loops.get(kernel)
    name = getattr(kernel, "__name__", "a kernel")
    why = why or "its arguments"
    return f"Numba's simulator ran {name}, thread by thread, and what it computes was not counted: {why}"
