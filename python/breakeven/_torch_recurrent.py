"""Recurrent layers, told as a GPU runs them: one op for each layer and direction, forward and back, where a CPU takes a
step after the other.

What runs within the call of a layer, and later in the nodes of autograd that the call has made, is left out; its time is
that of the layer. In place of what a CPU keeps of each step for the gradient stands what a GPU does: the gates, and of
an LSTM the cell, of every step.
"""

from __future__ import annotations

import threading
import weakref

from . import _native, _torch_ops

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_torch: Any = None
#: Kinds, and how many numbers of each hidden state a step keeps: its gates, an LSTM's cell, a GRU's share of the state.
_KEPT = {"lstm": 5, "gru": 4, "rnn_tanh": 1, "rnn_relu": 1}
#: Layers whose calls are running, by thread.
_within: dict[int, _Layers] = {}
#: Those whose gradients may come, oldest first.
_called: list[_Layers] = []
_MOST = 4096
#: Those whose gradients are being computed.
_open: _Layers | None = None
#: The gradients that are computed leave what they are made of for other ones.
_kept = False
#: What calls autograd's engine.
_engine: Any = None


class _Layers:
    """One call: what is told of each layer and direction, and the nodes of autograd that it made."""

    __slots__ = ("device", "first", "gap", "keywords", "kept", "kind", "last", "layers", "ops", "own",
                 "reserve", "thread", "there")  # fmt: skip

    kind: str
    #: Of each layer and direction the arrays that go in, and the one that comes out.
    layers: list[tuple[list[Any], Any]]
    keywords: list[tuple[str, str]]
    thread: int
    #: The imitated device, the real one.
    device: str | None
    there: str | None
    #: Numbers of autograd's nodes.
    first: int
    last: int
    #: Ops that ran, their time, and that before the first.
    ops: int
    own: int
    gap: int
    #: Bytes that stay for the gradients; the storage that stands for them.
    kept: int
    reserve: int


class _Graph:
    """What a graph of autograd holds as long as there is one."""

    __slots__ = ("__weakref__",)


def install(torch: Any) -> None:
    """Put stand-ins over the functions that modules call."""
    global _torch, _engine
    from inspect import unwrap

    from torch.jit import _builtins

    _torch, _torch_ops.part_of_layer = torch, takes
    _engine = unwrap(torch.autograd.graph._engine_run_backward).__code__
    for name in _KEPT:
        plain = getattr(torch._VF, name)
        stand_in = _native.Named(plain, name, _begin, _end, True, True)
        for key in ("__module__", "__name__", "__qualname__", "__doc__"):
            if hasattr(plain, key):
                stand_in.__dict__[key] = getattr(plain, key)
        # What is compiled by its source calls the function all the same.
        if (operator := _builtins._find_builtin(plain)) is not None:
            _builtins._register_builtin(stand_in, operator)
        setattr(torch._VF, name, stand_in)


def _begin(name: str, args: tuple[Any, ...]) -> Any:
    thread = threading.get_ident()
    if thread in _within or not _native.recording():
        return None
    call = _Layers()
    call.kind, call.thread, call.ops, call.own, call.gap, call.reserve = name, thread, 0, 0, 0, 0
    _describe(call, args)
    call.first = _torch._C._autograd._get_sequence_nr()
    _within[thread] = call
    return call


def _describe(call: _Layers, args: tuple[Any, ...]) -> None:
    """What is told of each layer and direction, from the arguments: input, lengths of a packed one, state, weights, whether
    there are biases, how many layers, …"""
    packed = isinstance(args[3], (list, tuple))
    given, first = args[0], 3 if packed else 2
    weights, biases, count, _, _, ways = args[first : first + 6]
    ways = 2 if ways else 1
    call.there = _torch_ops.on_gpu(given)
    call.device = _device(given)
    code, size, _, shape, storage = _torch_ops.describe(given)
    if (half := _autocast(given)) is not None:
        code, size = _torch_ops._types[half]
    if packed:
        call.keywords = [("steps", str(len(args[1])))]
    else:
        call.keywords = []
        if args[first + 6]:
            shape = (shape[1], shape[0], *shape[2:])
    each = len(weights) // (count * ways)
    rows, call.kept, call.layers = _torch_ops._count(shape[:-1]), 0, []
    for at in range(count * ways):
        mine = weights[at * each : (at + 1) * each]
        hidden = mine[1].shape[1] if each in (2, 4) else mine[-1].shape[0]
        layer = at // ways
        array = (code, size, 0, shape if layer == 0 else (*shape[:-1], ways * hidden), storage if layer == 0 else 0)
        arrays = [array, *((code, size, 0, *_torch_ops.describe(weight)[3:]) for weight in mine)]
        call.layers.append((arrays, (code, size, 0, (*shape[:-1], hidden), 0)))
        width = int(mine[1].shape[0]) // {"lstm": 4, "gru": 3}.get(call.kind, 1)
        call.kept += rows * width * size * _KEPT[call.kind]
        if layer + 1 < count:
            call.kept += rows * hidden * size


def _device(tensor: Any) -> str | None:
    if _torch_ops.device is None:
        return None
    from . import _torch_pretend

    return _torch_pretend.where(tensor)


def _autocast(tensor: Any) -> Any:
    """The type that a GPU's layer computes in where the script lets it choose."""
    kind = tensor.device.type if _torch_ops.gpu is not None else "cpu"
    on = _torch.is_autocast_enabled(kind) and tensor.dtype in (_torch.float32, _torch.float16, _torch.bfloat16)
    return _torch.get_autocast_dtype(kind) if on else None


def _end(call: Any, inputs: tuple[Any, ...], result: Any, _: Any = None) -> None:
    if call is None:
        return
    _within.pop(call.thread, None)
    if result is None and _torch_ops.phase == "backward" and call.ops:
        # Checkpointing stops what it computes again where that is all there; a GPU's layer is a whole.
        _tell(call, "", [[array] for _, array in call.layers])
    if result is None or not call.ops:
        return
    call.last = _torch._C._autograd._get_sequence_nr()
    output, *states = result
    with _torch_ops.on_device(call.device or _torch_ops.GPU):
        made = _torch_ops.describe(output, True)[4]
        ends = [_torch_ops.memory(_torch_ops.describe(state, True)[4]) for state in states]
        results = [[array] for _, array in call.layers]
        results[-1] = [(*results[-1][0][:4], made), *ends]
    _tell(call, "", results, output)
    nodes = [made.grad_fn for made in result if made.grad_fn is not None]
    if call.last > call.first and nodes:
        _keep(call, nodes)


def _keep(call: _Layers, nodes: list[Any]) -> None:
    """Gradients may come, of any of the results: what they need stays until they have, or the graph goes."""
    del _called[: max(0, len(_called) - _MOST)]
    _called.append(call)
    call.reserve = _native.storage_new(call.kept, _torch_ops.ACTIVATION, call.device == "cpu", True)
    graph = _Graph()
    weakref.finalize(graph, _gone, call).atexit = False
    for node in nodes:
        node.metadata[__name__] = graph


def _gone(call: _Layers) -> None:
    _free(call)
    if call in _called:
        _called.remove(call)


def _free(call: _Layers) -> None:
    if call.reserve:
        _native.storage_freed(call.reserve)
        call.reserve = 0


def _tell(call: _Layers, which: str, results: list[list[Any]], output: Any = None) -> None:
    """An op for each layer and direction, backward from the last."""
    with _torch_ops.on_device(call.device or _torch_ops.GPU):
        context = _torch_ops.context({"input": output}, call.there)
    shorten = _torch_ops._shortened if _torch_ops._in_tf32("rnn") else list
    told = [(given, made) for (given, _), made in zip(call.layers, results)]
    each, rest = divmod(call.own, len(told))
    gap = call.gap
    for given, made in reversed(told) if which else told:
        name = f"aten.{call.kind}{which}"
        _native.tensor_event(name, shorten(given), shorten(made), call.keywords, context, each + rest, gap)
        rest = gap = 0
    call.ops = call.own = call.gap = 0


def takes(result: Any, own: int, gap: int) -> bool:
    """Whether an op that has just run is part of a layer's."""
    if not (_within or _called):
        return False
    call = _within.get(threading.get_ident())
    if call is not None:
        _add(call, own, gap)
        return True
    if _torch_ops.phase != "backward":
        return False
    return _takes_gradient(result, own, gap)


def _add(call: _Layers, own: int, gap: int) -> None:
    if call.ops == 0:
        call.gap = gap
    else:
        own += gap
    call.ops += 1
    call.own += own


def _takes_gradient(result: Any, own: int, gap: int) -> bool:
    global _open
    node = _torch._C._current_autograd_node()
    number = node._sequence_nr() if node is not None else -1
    call = _open
    if call is None or not call.first <= number < call.last:
        thread = threading.get_ident()
        call = next((c for c in reversed(_called) if c.first <= number < c.last and _of(c, thread)), None)
    if call is None:
        # What adds a gradient to the others of its parameter comes in between.
        if _open is not None and 0 < number < 1 << 62:
            flush()
        return False
    if not _by_engine():
        return False
    if call is not _open:
        flush()
        _open = call
    _add(call, own, gap)
    # What is left of these in the end is gradients.
    with _torch_ops.on_device(call.device or _torch_ops.GPU):
        for tensor in _torch_ops.flat(result):
            _torch_ops.stored(tensor)
    return True


def _of(call: _Layers, thread: int) -> bool:
    """A real GPU's gradients are computed in a thread of its own."""
    return call.thread == thread or call.there is not None


def _by_engine() -> bool:
    """Whether autograd computes, and no hook of the script's."""
    frame = _torch_ops.caller()
    return frame.f_code is _engine or frame.f_globals.get("__name__", "").startswith("breakeven.")


def flush() -> None:
    """Tell the gradients that have been computed."""
    global _open
    call, _open = _open, None
    if call is None or not call.ops:
        return
    # Of everything that went in.
    gradients = [[(*array[:4], 0) for array in given] for given, _ in call.layers]
    _tell(call, "_backward", gradients)
    if not _kept:
        _free(call)


def backward_begins(args: tuple[Any, ...]) -> None:
    """Autograd's engine is called: it may be told to keep what it needs."""
    global _kept
    _kept = bool(args[2]) if len(args) > 2 else False
