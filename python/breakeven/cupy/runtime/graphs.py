"""CUDA graphs: what a stream captures is written down, and a launch does it again.

A GPU does not run what it captures. Here it has to run once, or there would be no results to go on with; what was
changed by it is put back when the capture ends. Each call is told with what it is on a GPU: recorded only, or part of a
graph that one call has handed over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import calls, shared, streams

_Step = tuple[str, Callable[..., Any], tuple[Any, ...], dict[str, Any], Any, Any]


class Graph:
    """A captured sequence of calls."""

    def __init__(self) -> None:
        self._steps: list[_Step] = []
        self._before: dict[int, tuple[Any, Any]] = {}

    def keep(self, arrays: tuple[Any, ...]) -> None:
        """What arrays from before the capture hold."""
        for array in arrays:
            root = array
            while isinstance(root.base, np.ndarray):
                root = root.base
            if id(root) not in self._before and not any(root is made for *_, made in self._steps):
                self._before[id(root)] = root, root.copy()

    def add(self, step: _Step) -> None:
        self._steps.append(step)

    def end(self) -> None:
        """The capture has ended."""
        for root, values in self._before.values():
            if root.flags.writeable and not np.array_equal(root, values, equal_nan=root.dtype.kind in "fc"):
                np.copyto(root, values)
        self._before.clear()

    def launch(self, stream: Any = None) -> None:
        """All steps again, their results where the capture put them."""
        with stream if stream is not None else streams.current() as used:
            streams.mark("cupy.cuda.Graph.launch", used.graph_tag("launch"))
            streams.works.graph = "node"
            try:
                for name, function, args, kwargs, told, result in self._steps:
                    _put(calls.run(name, function, args, kwargs, told), result)
            finally:
                streams.works.graph = None

    def upload(self, stream: Any = None) -> None:
        """Nothing of it is on a device."""


Graph.__module__ = "cupy.cuda.graph"


def _put(made: Any, place: Any) -> None:
    if isinstance(place, (tuple, list)):
        for item, at in zip(made, place):
            _put(item, at)
    elif isinstance(place, np.ndarray) and made is not place and not np.shares_memory(made, place):
        shared.quietly(np.copyto, place, made)


shared.state.new_graph = Graph
