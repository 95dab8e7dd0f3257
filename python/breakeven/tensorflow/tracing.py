"""Tracing: Python runs a function once to make its graph, which is start-up; one that is traced often is named."""

from __future__ import annotations

from .. import _native
from ..events import recorder
from . import calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Traces of one function from which on that is told.
MANY_TIMES = 20
#: Functions whose traces are counted.
_MOST = 10_000
_traced: dict[object, int] = {}


def entered(_: str, args: tuple[Any, ...]) -> tuple[int, bool]:
    """A function is about to be traced, for what it was given last (`TracingOptions`). NumPy's calls are part of it."""
    options = args[3] if len(args) > 3 else None
    function = getattr(options, "python_function", None)
    code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    name = str(getattr(options, "name", ""))
    key = (name, code)
    if len(_traced) < _MOST or key in _traced:
        times = _traced[key] = _traced.get(key, 0) + 1
        if times == MANY_TIMES:
            recorder.unseen(
                "tensorflow-retraced",
                f"{name} was traced {times} times or more: tf.function traces for each new shape and new number of "
                "Python's; give it tensors, and @tf.function(reduce_retracing=True) for shapes that vary",
            )
    token = _native.enter(calls.NAME, True)
    return token, _native.import_begins("compile", ())


def left(begun: tuple[int, bool] | None, *_: Any) -> None:
    """It has been traced, or raised."""
    if begun is None:
        return
    token, is_startup = begun
    _native.import_ends(is_startup)
    if token:
        recorder.failed(token)
