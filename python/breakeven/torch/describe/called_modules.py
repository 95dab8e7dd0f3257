"""Modules that were called: their paths, their parameters, and the device that these are on."""

from __future__ import annotations

import itertools
import weakref

from ..session import PARAMETER
from . import likes, storages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class State:
    """What changes while the script runs."""

    #: What calls a module, and knows the outermost one that was called last.
    call: Any = None


state = State()


#: Paths of all modules below each outermost one.
paths: weakref.WeakKeyDictionary[Any, dict[int, str]] = weakref.WeakKeyDictionary()
#: Modules whose parameters are known as such.
modules: weakref.WeakSet[Any] = weakref.WeakSet()


def where() -> str:
    """The device that the outermost module has its parameters on, as far as one is imitated; that of another one, where
    that has none, as a loss; without any the one on which steps made the most tensors."""
    root = state.call.root if state.call is not None else None
    for module in itertools.chain([root] if root is not None else [], modules):
        for parameter in module.parameters():
            if (known := storages.known_storage(parameter)) is not None:
                return known.device or "cpu"
    return likes.state.mostly


def parameters() -> Iterator[Any]:
    """Those of all modules that were called."""
    for module in modules:
        yield from (one for one in module._parameters.values() if one is not None)


def know_parameters(module: Any) -> None:
    for parameter in (*module._parameters.values(), *module._buffers.values()):
        if parameter is not None:
            storages.assign(parameter, PARAMETER, False)
