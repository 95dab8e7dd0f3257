"""A traced function of TensorFlow as the engine's graph of primitives.

Dims that a graph leaves open (`None`, the batch) are those of what this call was given: see `batch.py`. Functions that
it calls are calls, loops hold their bodies with how often they run where the graph fixes it (`loops.py`).
"""

from __future__ import annotations

from . import functions, loops, names
from .operation import Build, Operation, Tensor
from .rules import RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

LOOPS = ("While", "StatelessWhile")
_BRANCHES = ("If", "StatelessIf", "Case", "StatelessCase")
#: Functions within functions are followed so deep.
_DEEPEST = 40


def graph_of(graph: Any, batch: int | None, unknown: set[str], apart: bool, depth: int = 0) -> dict[str, Any]:
    """The graph of a FuncGraph; `unknown` gathers types of operations that nothing is known of. `apart`: nobody fuses
    its operations."""
    build, numbers = Build(), dict[str, int]()
    for tensor in graph.inputs:
        numbers[tensor.name] = build.given(tensor_of(tensor, batch))
    for op in graph.get_operations():
        reads = [_number(build, numbers, tensor, batch) for tensor in op.inputs]
        gives = [build.value(tensor_of(tensor, batch)) for tensor in op.outputs]
        for tensor, number in zip(op.outputs, gives):
            numbers.setdefault(tensor.name, number)
        if op.type == "Placeholder":
            continue
        if op.type == "Const":
            for number in gives:
                build.values[number]["constant"] = True
        elif op.type in functions.CALLS or op.type in LOOPS or op.type in _BRANCHES:
            _inner(op, build, reads, gives, (graph, batch, unknown, apart, depth + 1))
        else:
            first = len(build.nodes)
            add(described(op, batch), build, reads, gives, unknown)
            if apart:
                for node in build.nodes[first:]:
                    node["group"] = first
    return build.graph([_number(build, numbers, tensor, batch) for tensor in graph.outputs])


def _effects(build: Build, bodies: list[dict[str, Any]], outputs: int) -> list[int]:
    """New values for what variables hold after one of the bodies has run."""
    longest = max(bodies, key=lambda body: len(body["outputs"]))
    changed = [longest["values"][number] for number in longest["outputs"][outputs:]]
    numbers = [build.value(Tensor(value["dtype"], tuple(value["shape"]))) for value in changed]
    build.effects.extend(numbers)
    return numbers


def _number(build: Build, numbers: dict[str, int], tensor: Any, batch: int | None) -> int:
    if tensor.name not in numbers:
        numbers[tensor.name] = build.given(tensor_of(tensor, batch))
    return numbers[tensor.name]


def add(op: Operation, build: Build, reads: Sequence[int], gives: Sequence[int], unknown: set[str]) -> None:
    """The primitives of one operation."""
    if op.type in names.NOTHING or op.is_of_shapes:
        for number in gives:
            build.inputs.append(number)
        return
    if (rule := RULES.get(op.type)) is not None:
        rule(op, build, reads, gives)
        return
    primitive = names.PRIMITIVES.get(op.type)
    if primitive is None:
        unknown.add(op.type)
        return
    if primitive in names.FOLDS:
        build.node(primitive, reads[:1], gives, {"axes": _folded(op)})
    elif primitive == "gather":
        row = op.gives[0].count // max(1, op.reads[1].count)
        build.node(primitive, reads[:2], gives, {"slice_sizes": [row]})
    elif primitive == "random_bits":
        build.node(primitive, [], gives)
    else:
        build.node(primitive, reads, gives)


def _folded(op: Operation) -> list[int]:
    """Axes that a fold leaves out, by shapes where their numbers are not fixed."""
    before, after = op.reads[0].shape, list(op.gives[0].shape)
    value = op.reads[1].value if len(op.reads) > 1 else None
    if value is not None:
        axes = value if isinstance(value, (list, tuple)) else [value]
        return [int(axis) % max(1, len(before)) for axis in axes]
    if op.type == "BiasAddGrad":
        return list(range(len(before) - 1))
    axes = []
    for axis, dim in enumerate(before):
        if after and after[0] == dim:
            after.pop(0)
        else:
            axes.append(axis)
    return axes


def described(op: Any, batch: int | None) -> Operation:
    """An operation of a graph."""

    def attribute(name: str) -> Any:
        try:
            return op.get_attr(name)
        except ValueError:
            return None

    return Operation(
        op.type, [tensor_of(t, batch, True) for t in op.inputs], [tensor_of(t, batch) for t in op.outputs], attribute
    )


def tensor_of(tensor: Any, batch: int | None, valued: bool = False) -> Tensor:
    """A symbolic tensor; its value where it is a small constant."""
    rank = tensor.shape.rank
    shape = () if rank is None else tuple(batch or 1 if dim is None else int(dim) for dim in tensor.shape.as_list())
    value = None
    if valued and tensor.op.type == "Const" and len(shape) <= 1:
        from tensorflow.python.framework import tensor_util

        constant = tensor_util.constant_value(tensor)
        value = None if constant is None or constant.dtype.kind not in "iu" else constant.tolist()
    return Tensor(tensor.dtype.base_dtype.name, shape, value)


def _inner(
    op: Any, build: Build, reads: list[int], gives: list[int], around: tuple[Any, int | None, set[str], bool, int]
) -> None:
    """A call, a loop, branches."""
    graph, batch, unknown, apart, depth = around
    loop, branch = op.type in LOOPS, op.type in _BRANCHES
    if loop:
        wanted = ["cond", "body"]
    elif op.type in ("If", "StatelessIf"):
        wanted = ["then_branch", "else_branch"]
    else:
        wanted = ["f"]
    called = [op.get_attr(name) for name in wanted] if not op.type.endswith("Case") else list(op.get_attr("branches"))
    inner = [functions.graph_named(graph, function.name) for function in called]
    if depth > _DEEPEST or any(body is None for body in inner):
        unknown.add(op.type)
        return
    bodies = [graph_of(body, batch, unknown, apart, depth) for body in inner]
    gives = [*gives, *_effects(build, bodies, len(op.outputs))]
    if loop:
        rounds = loops.rounds(op)
        facts = {"cond_nconsts": 0, "body_nconsts": 0, **({} if rounds is None else {"rounds": rounds})}
        build.node("while", reads, gives, facts, bodies)
    elif branch:
        build.node("cond", reads, gives, None, bodies)
    else:
        build.node("call", reads, gives, None, bodies)
