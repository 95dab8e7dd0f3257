"""One operation of TensorFlow, as an eager call or a graph has it, and how it becomes the engine's primitives.

A rule is a function `rule(op, build)`: it adds nodes to `build` that make the operation's results of what it reads.
Most operations are one primitive each: `names.py` has those.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    Shape = tuple[int, ...]
    Fact = int | float | str | list[int]
    #: A node of the engine's graph as JSON.
    Node = dict[str, Any]


@dataclass(frozen=True)
class Tensor:
    """A tensor's element type and shape, and its value where the graph fixes it."""

    dtype: str
    shape: Shape
    value: Any = None

    @property
    def count(self) -> int:
        """Elements."""
        return math.prod(self.shape)


@dataclass
class Operation:
    """One operation: its type, tensors read and given, attributes by name."""

    type: str
    reads: Sequence[Tensor]
    gives: Sequence[Tensor]
    attribute: Callable[[str], Any] = lambda name: None

    @property
    def is_of_shapes(self) -> bool:
        """Whether it computes with a few whole numbers (shapes, counters), which TensorFlow does on the host."""
        tensors = (*self.reads, *self.gives)
        return bool(tensors) and all(t.dtype in ("int32", "int64", "bool", "string") and t.count <= 16 for t in tensors)


@dataclass
class Build:
    """A graph in the making: values and nodes as the engine reads them."""

    values: list[dict[str, Any]] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    #: What variables hold afterwards: made whoever reads it.
    effects: list[int] = field(default_factory=list)

    def value(self, tensor: Tensor, constant: bool = False) -> int:
        """The number of a new value."""
        known = {"constant": True} if constant else {}
        self.values.append({"dtype": tensor.dtype, "shape": list(tensor.shape), **known})
        return len(self.values) - 1

    def given(self, tensor: Tensor) -> int:
        """The number of a value that the function is given."""
        number = self.value(tensor)
        self.inputs.append(number)
        return number

    def node(
        self,
        op: str,
        reads: Sequence[int],
        gives: Sequence[int],
        facts: Mapping[str, Fact] | None = None,
        bodies: Sequence[dict[str, Any]] = (),
    ) -> None:
        """A primitive operation."""
        self.nodes.append({"op": op, "reads": list(reads), "gives": list(gives), "facts": dict(facts or {})})
        if bodies:
            self.nodes[-1]["bodies"] = list(bodies)

    def step(self, op: str, reads: Sequence[int], tensor: Tensor, facts: Mapping[str, Fact] | None = None) -> int:
        """A primitive operation that gives one new value: its number."""
        number = self.value(tensor)
        self.node(op, reads, [number], facts)
        return number

    def graph(self, outputs: Sequence[int]) -> dict[str, Any]:
        """The whole of it."""
        return {"values": self.values, "inputs": self.inputs, "outputs": [*outputs, *self.effects], "nodes": self.nodes}
