"""`cupyx.scipy.fft` as a backend of `scipy.fft`: it takes calls with arrays of the device, others only where it may
bring them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from ..core import calls, catalogue


def of(module: ModuleType) -> dict[str, Any]:
    """What SciPy asks of a backend."""

    def convert(dispatchables: Any, coerce: bool) -> Any:
        def brought(item: Any) -> Any:
            if coerce and item.coercible and item.type is np.ndarray:
                return sys.modules["cupy"].asarray(item.value)
            return item.value

        try:
            values = [brought(item) for item in dispatchables]
        except TypeError:
            return NotImplemented
        if any(item.type is np.ndarray and not calls.is_device(value) for item, value in zip(dispatchables, values)):
            return NotImplemented
        return values

    def function(method: Any, args: Any, kwargs: Any) -> Any:
        if method.__name__ not in catalogue.names()[module.__name__]:
            return NotImplemented
        return getattr(module, method.__name__)(*args, **kwargs)

    return {"__ua_domain__": "numpy.scipy.fft", "__ua_convert__": convert, "__ua_function__": function}


def by_scipy(transform: Callable[..., Any]) -> Callable[..., Any]:
    """SciPy's transform: without CuPy's plan, and by SciPy also where the program made CuPy its backend."""

    def compute(*args: Any, plan: Any = None, **kwargs: Any) -> Any:
        from scipy import fft

        with fft.set_backend("scipy", only=True):
            return transform(*args, **kwargs)

    return compute
