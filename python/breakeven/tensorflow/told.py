"""Work of a graph as the engine tells it: asked once for each graph and batch."""

from __future__ import annotations

import json

from .. import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


#: What ops have as their device: TensorFlow's own code is the program for a GPU, too.
GPU = "gpu:0"


class Told:
    """An op as the table takes it, and what nobody understands in it."""

    def __init__(self, words: dict[str, str], unknown: list[str], uncounted: list[str]) -> None:
        self.words, self.unknown, self.uncounted = words, unknown, uncounted


def told(graph: dict[str, Any], unknown: set[str], fed: int = 0) -> Told:
    """The kernels of a graph, after `fed` bytes that its iterators copy to the device."""
    answer = json.loads(_native.compiled(json.dumps(graph)))
    op, dtype = answer["told"]["op"], answer["told"]["dtype"]
    if unknown:
        op = "opaque"
    elif fed:
        copy = {"op": {"transfer": {"direction": "h2d", "bytes": fed}}, "dtype": "u8"}
        op["routine"]["parts"].insert(0, copy)
    words = {"op": json.dumps({"op": op, "dtype": dtype}, sort_keys=True)}
    return Told(words, sorted({*answer["unknown"], *unknown}), answer["uncounted"])
