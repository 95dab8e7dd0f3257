"""Which CuPy computes: the real one where it has a device, else breakeven's stand-in; what all parts share."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from ...cupy import offer


class State:
    """What the port is in the middle of."""

    #: CuPy, and its class of arrays; a module of CuPy by its name, None where it has none.
    cupy: Any = None
    ndarray: Any = None
    #: Whether it is breakeven's stand-in, which computes on the CPU: its times say nothing of a GPU.
    stand_in = True
    #: Classes of the port, set by the modules that hold them: those import what this module holds.
    array: Any = None
    scalar: Any = None
    sparse: Any = None
    #: Calls of NumPy's own functions that are running because CuPy refused.
    falling_back = 0
    #: Whether each call waits for the device, so that its time is that of its line.
    by_line = False


state = State()


class _StandIn:
    """Finds the stand-in's modules."""

    def __init__(self, for_all: bool) -> None:
        self._for_all = for_all

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        package = name.partition(".")[0]
        if package not in offer.PACKAGES:
            return None
        if not (self._for_all or package in sys.modules or offer.asked_by_user()):
            return None
        from ...cupy import loading

        return loading.spec(name)


def offer_stand_in(for_all: bool) -> None:
    """From now on `import cupy` finds the stand-in; that of a library only where it is `for_all`."""
    if not any(isinstance(finder, _StandIn) for finder in sys.meta_path):
        sys.meta_path.insert(0, _StandIn(for_all))


def begin(stand_in: bool) -> None:
    """Take CuPy as the port's device.

    Raises RuntimeError where the real one is asked for and is not installed, or finds no device.
    """
    if stand_in:
        offer_stand_in(True)
    try:
        cupy = importlib.import_module("cupy")
    except ImportError as error:
        raise RuntimeError(f"no CuPy here: {error}") from error
    if not stand_in:
        try:
            devices = cupy.cuda.runtime.getDeviceCount()
        except Exception as error:
            raise RuntimeError(f"CuPy finds no device: {error}") from error
        if not devices:
            raise RuntimeError("CuPy finds no device")
    state.cupy, state.ndarray, state.stand_in = cupy, cupy.ndarray, stand_in
    # Unless told otherwise CuPy goes on with NaN where a matrix has no factors; NumPy raises.
    importlib.import_module("cupyx").seterr(linalg="raise")


def part(name: str) -> Any:
    """A module of CuPy by its name; None where there is none."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def wait() -> None:
    """Until the device has done all that it was given."""
    state.cupy.cuda.get_current_stream().synchronize()


def is_array(value: Any) -> bool:
    """Whether it is an array of the port's, or a number that is on the device."""
    kind = type(value)
    return kind is state.array or kind is state.scalar
