"""Recurrent layers, told as a GPU runs them: one op for each layer and direction, forward and back, where a CPU takes a
step after the other.

In place of what a CPU keeps of each step for the gradient stands what a GPU does: the gates, and of an LSTM the
cell, of every step.
"""

from __future__ import annotations

from ..describe import operands
from . import fused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


#: Kinds, and how many numbers of each hidden state a step keeps: its gates, an LSTM's cell, a GRU's share of the state.
_KEPT = {"lstm": 5, "gru": 4, "rnn_tanh": 1, "rnn_relu": 1}


def install(torch: Any) -> None:
    """Put stand-ins over the functions that modules call."""
    for name in _KEPT:
        fused.stand_in(torch._VF, name, lambda args, _, kind=name: _begin(kind, args), _end)


def _begin(kind: str, args: tuple[Any, ...]) -> Any:
    """What is told of each layer and direction, from the arguments: input, lengths of a packed one, state, weights,
    whether there are biases, how many layers, …"""
    packed = isinstance(args[3], (list, tuple))
    given, first = args[0], 3 if packed else 2
    weights, _, count, _, _, ways = args[first : first + 6]
    ways = 2 if ways else 1
    call = fused.Call(f"aten.{kind}", given, *weights)
    call.precision = "rnn"
    code, size, _, shape, storage = operands.describe(given)
    if (half := fused.precision(given)) is not None:
        code, size = operands.types[half]
    if packed:
        call.keywords = [("steps", str(len(args[1])))]
    elif args[first + 6]:
        shape = (shape[1], shape[0], *shape[2:])
    each = len(weights) // (count * ways)
    rows, call.forward = operands.count_of(shape[:-1]), []
    for at in range(count * ways):
        mine = weights[at * each : (at + 1) * each]
        hidden = mine[1].shape[1] if each in (2, 4) else mine[-1].shape[0]
        layer = at // ways
        array = (code, size, 0, shape if layer == 0 else (*shape[:-1], ways * hidden), storage if layer == 0 else 0)
        arrays = [array, *((code, size, 0, *operands.describe(weight)[3:]) for weight in mine)]
        call.forward.append((arrays, [(code, size, 0, (*shape[:-1], hidden), 0)]))
        width = int(mine[1].shape[0]) // {"lstm": 4, "gru": 3}.get(kind, 1)
        call.kept += rows * width * size * _KEPT[kind]
        if layer + 1 < count:
            call.kept += rows * hidden * size
    # The gradient of everything that went in, from the last layer on.
    call.backward = [(given, [(*array[:4], 0) for array in given]) for given, _ in reversed(call.forward)]
    return call


def _end(call: Any, output: Any, *states: Any) -> None:
    """The last layer gives the result, and the states."""
    given, [last] = call.forward[-1]
    ends = [operands.memory(operands.describe(state, True)[4]) for state in states]
    call.forward[-1] = given, [(*last[:4], operands.describe(output, True)[4]), *ends]
