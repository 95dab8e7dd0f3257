"""Executions of compiled functions: `tf.function`, Keras' `fit`, `evaluate` and `predict`, gradients of functions.

All of them come by `AtomicFunction.call_flat`. What a function computes is told by its graph, once for each batch.
"""

from __future__ import annotations

import threading
import weakref

from .. import _native
from ..events import recorder
from . import batch, functions, graph, loops
from .told import GPU, Told, told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NAME = "tensorflow.function"
#: Names of Keras' compiled steps.
_KERAS_STEPS = ("step_on_iterator", "step_on_data")
#: Batches and numbers of one function that are told apart.
_VARIANTS = 1000


class Running(threading.local):
    """Whether this thread is within a function that is an op."""

    inside = False


class Functions:
    """What is known of functions, by their number; the device that they are recorded for; and how TensorFlow says
    whether what is called runs, and is not traced."""

    def __init__(self) -> None:
        self.known: weakref.WeakKeyDictionary[Any, Function] = weakref.WeakKeyDictionary()
        self.tag = 0
        self.said: set[str] = set()
        self.eagerly: Callable[[], bool] = bool


class Function:
    """A traced function."""

    def __init__(self, atomic: Any) -> None:
        self.open = batch.is_open(atomic.graph)
        self.loops = any(op.type in graph.LOOPS for op in atomic.graph.get_operations())
        #: By the batch, and the numbers that may say how often its loops run.
        self.told: dict[tuple[int | None, tuple[int, ...]], Told] = {}


running = Running()
all_functions = Functions()


def entered(_: str, args: tuple[Any, ...]) -> tuple[int, tuple[Any, ...]] | None:
    """A function is about to run; None while another is traced, or within one."""
    if running.inside or not all_functions.eagerly():
        return None
    token = _native.enter(NAME)
    if not token:
        return None
    running.inside = True
    return token, args


def left(call: tuple[int, tuple[Any, ...]] | None, inputs: tuple[Any, ...], result: Any, _: Any = None) -> None:
    """It has run, or raised: then there is neither input nor result."""
    if call is None:
        return
    running.inside = False
    token, args = call
    if result is None and not inputs:
        recorder.failed(token)
        return
    try:
        work = _work(args[0], args[1:])
    except Exception as error:
        recorder.failed(token)
        recorder.unseen("hook-failed", f"a function of TensorFlow could not be described: {error}")
        return
    _native.leave(token, (), None, work.words, device())


def device() -> int:
    """The number of the device that all is recorded for."""
    all_functions.tag = all_functions.tag or _native.device_tag(GPU)
    return all_functions.tag


def _work(atomic: Any, args: tuple[Any, ...]) -> Told:
    function = all_functions.known.get(atomic)
    if function is None:
        function = all_functions.known[atomic] = Function(atomic)
    rows = batch.given(atomic.graph, args) if function.open else None
    numbers = loops.numbers(atomic.graph, args) if function.loops else {}
    key = (rows, tuple(numbers.values()))
    work = function.told.get(key)
    if work is None and len(function.told) >= _VARIANTS:
        return next(reversed(function.told.values()))
    if work is None:
        unknown: set[str] = set()
        loops.given = numbers
        made = graph.graph_of(atomic.graph, rows, unknown, not is_fused(atomic))
        work = function.told[key] = told(made, unknown, fed(atomic.graph, rows))
        say(work)
    return work


def is_fused(atomic: Any) -> bool:
    """Whether XLA compiles a function on a GPU: where the script asks for it, and in Keras' own steps, which ask for it
    there unless told otherwise."""
    name = atomic.name.decode() if isinstance(atomic.name, bytes) else str(atomic.name)
    if any(step in name for step in _KERAS_STEPS):
        return True
    attributes = getattr(atomic.cached_definition, "attr", {})
    return "_XlaMustCompile" in attributes and bool(attributes["_XlaMustCompile"].b)


def say(work: Told) -> None:
    """Tells once of operations that nothing is known of, and of loops whose rounds are not fixed."""
    for name in work.unknown:
        if name not in all_functions.said:
            all_functions.said.add(name)
            recorder.unseen(
                "tensorflow-unknown", f"TensorFlow's operation {name} is not known: what holds it is not counted"
            )
    if work.uncounted and "rounds" not in all_functions.said:
        all_functions.said.add("rounds")
        recorder.unseen("tensorflow-rounds", "a loop of TensorFlow's ends by its data: it is counted as run once")


def fed(traced: Any, rows: int | None) -> int:
    """Bytes that iterators of a graph hand to one execution: numbers that the host has made."""
    return sum(
        graph.tensor_of(tensor, rows).count * tensor.dtype.size
        for each in functions.with_called(traced)
        for op in each.get_operations()
        if op.type.startswith("IteratorGetNext")
        for tensor in op.outputs
        if tensor.dtype.name not in ("resource", "variant", "string")
    )
