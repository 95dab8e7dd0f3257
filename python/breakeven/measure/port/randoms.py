"""Random numbers: NumPy's own generators, so that both sides have the same, with results copied to the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import calls, values

#: Methods that change their first argument.
_SHUFFLES = frozenset(["shuffle"])


def drawn(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `numpy.random` whose arrays are the device's."""

    def draw(*args: Any, **kwargs: Any) -> Any:
        brought = values.Brought(name)
        host_args, host_kwargs = brought.host(args), brought.host(kwargs)
        result = function(*host_args, **host_kwargs)
        if name.rpartition(".")[2] in _SHUFFLES and host_args:
            brought.write_back(host_args[0])
        if calls.state.falling_back:
            return result
        return brought.up(result)

    draw.__name__ = name.rpartition(".")[2]
    return draw


def _of_device(kind: Any) -> Any:
    """A class of generators whose methods give arrays of the device."""
    body: dict[str, Any] = {"__module__": kind.__module__, "__doc__": kind.__doc__}
    for name in dir(kind):
        plain = getattr(kind, name)
        if name.startswith("_") or name in ("spawn", "get_state", "set_state", "seed") or not callable(plain):
            continue
        body[name] = _method(f"numpy.random.{name}", plain)
    return type(kind.__name__, (kind,), body)


def _method(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    draw = drawn(name, plain)
    short = name.rpartition(".")[2]
    if short not in _SHUFFLES:
        return lambda self, *args, **kwargs: draw(self, *args, **kwargs)

    def shuffle(self: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        return drawn(name, lambda x, *args, **kwargs: plain(self, x, *args, **kwargs))(x, *args, **kwargs)

    return shuffle


Generator = _of_device(np.random.Generator)
RandomState = _of_device(np.random.RandomState)


def default_rng(seed: Any = None) -> Any:
    """`numpy.random.default_rng`."""
    if isinstance(seed, np.random.Generator):
        return seed
    return Generator(np.random.default_rng(seed).bit_generator)
