"""Operations that run as they are called: one kernel, or a few, each with TensorFlow's own dispatch.

They come by `TFE_Py_FastPathExecute(context, type, name, *inputs, *attributes)`. Where that cannot do an operation it
raises, and TensorFlow goes another way, which is not told: those are few, and small.
"""

from __future__ import annotations

from .. import _native
from ..events import recorder
from . import calls, graph, names
from .operation import Build, Operation, Tensor
from .told import Told, told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Operations of data sets, iterators and resources, which the host does.
_HOSTS = ("Iterator", "Dataset", "Delete", "Summary", "Lookup", "MutableHash", "Assert", "Print", "Read", "Write")


class Known:
    """Works of operations by what they are given."""

    def __init__(self) -> None:
        self.works: dict[Any, Told | None] = {}


known = Known()


def entered(_: str, args: tuple[Any, ...]) -> int:
    """An operation is about to run; 0 within a compiled function, and for what is no array work."""
    if calls.running.inside or _is_hosts(args[1]):
        return 0
    return _native.enter(f"tensorflow.{args[1]}")


def left(token: int | None, inputs: tuple[Any, ...], result: Any, _: Any = None) -> None:
    """It has run, or raised."""
    if not token:
        return
    if result is None and not inputs:
        recorder.failed(token)
        return
    work = _work(inputs, result)
    if work is None:
        recorder.failed(token)
        return
    _native.leave(token, (), None, work.words, calls.device())


def _is_hosts(kind: str) -> bool:
    return kind in names.NOTHING or any(word in kind for word in _HOSTS)


def _work(args: tuple[Any, ...], result: Any) -> Told | None:
    kind, given = args[1], args[3:]
    results = list(result) if isinstance(result, (list, tuple)) else [result]
    tensors = [value for value in given if hasattr(value, "_shape_tuple") or hasattr(value, "__array_interface__")]
    plain = tuple(value for value in given if isinstance(value, (str, bool, int, float, bytes)))
    key = (kind, tuple(_shape(value) for value in tensors), tuple(_shape(value) for value in results), plain)
    if key not in known.works:
        if len(known.works) > 100_000:
            return None
        known.works[key] = _described(kind, tensors, results, given)
    return known.works[key]


def _shape(value: Any) -> Any:
    shape = value._shape_tuple() if hasattr(value, "_shape_tuple") else getattr(value, "shape", None)
    return shape, str(getattr(value, "dtype", ""))


def _tensor(value: Any) -> Tensor:
    shape = value._shape_tuple() if hasattr(value, "_shape_tuple") else value.shape
    dtype = value.dtype
    return Tensor(getattr(dtype, "name", str(dtype)), tuple(shape))


def _described(kind: str, tensors: list[Any], results: list[Any], given: tuple[Any, ...]) -> Told | None:
    gives = [_tensor(value) for value in results if hasattr(value, "_shape_tuple")]
    if not gives:
        return None
    words = {name: value for name, value in zip(given, given[1:]) if isinstance(name, str)}
    op = Operation(kind, [_tensor(value) for value in tensors], gives, words.get)
    build = Build()
    numbers = [build.given(tensor) for tensor in op.reads]
    made = [build.value(tensor) for tensor in op.gives]
    unknown: set[str] = set()
    graph.add(op, build, numbers, made, unknown)
    copied = sum(
        value.nbytes
        for value in tensors
        if hasattr(value, "__array_interface__") and not hasattr(value, "_shape_tuple")
    )
    if not build.nodes and not unknown:
        return None
    work = told(build.graph(made), unknown, copied)
    calls.say(work)
    return work
