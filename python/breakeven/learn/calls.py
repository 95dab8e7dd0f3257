"""A call of an estimator's method, from its begin to its event.

`entered` and `left` are called around each method of a library's class by `_native.Named`, which leaves no frame.
"""

from __future__ import annotations

import json
import threading
import time

from .. import _native
from ..events import recorder
from . import facts, names, wrappers
from .fallbacks import rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Methods after which the model has changed.
FITS = frozenset({"fit", "fit_predict", "fit_transform", "partial_fit"})
#: Names of the arguments that come first.
_FIRST = ("X", "raw_documents", "y", "data")
#: No more texts of facts are kept.
_MOST_TEXTS = 4096


class Inside(threading.local):
    """Whether this thread is within a call that is an op; or works for one that the main thread has made."""

    depth = 0
    main = False

    def begins(self) -> None:
        self.depth += 1
        if threading.current_thread() is threading.main_thread():
            Inside.main = True

    def ends(self) -> None:
        self.depth -= 1
        if threading.current_thread() is threading.main_thread():
            Inside.main = False

    def any(self) -> bool:
        return self.depth > 0 or Inside.main


inside = Inside()
_texts: dict[tuple[tuple[str, Any], ...], str] = {}

#: Token of the table, the class, the method, when it began; the estimator is the first argument.
_Call = tuple[int, names.Estimator, str, int, "tuple[Any, ...]", "dict[str, Any] | None"]


def entered(method: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> _Call | None:
    """A method of a library's class has been called; None where it is part of another op, or no op."""
    if not args or inside.any():
        return None
    estimator = names.estimator(type(args[0]))
    if estimator is None:
        return None
    token = _native.enter(f"{estimator.name}.{method}", True)
    if not token:
        return None
    inside.begins()
    return token, estimator, method, time.perf_counter_ns(), args, kwargs


def left(call: _Call | None, inputs: tuple[Any, ...], result: Any, words: Any = None) -> None:
    """It has returned, or raised: then there is neither input nor result."""
    if call is None:
        return
    inside.ends()
    token, estimator, method, began, args, kwargs = call
    if result is None and not inputs:
        recorder.failed(token)
        return
    if estimator.unknown:
        took = time.perf_counter_ns() - began
        recorder.failed(token)
        recorder.unseen("estimator-unknown", f"breakeven does not know the estimator {estimator.name}", took)
        return
    try:
        told, stays = _told(estimator, method, args, kwargs or {}, result)
    except Exception as error:
        recorder.failed(token)
        took = time.perf_counter_ns() - began
        recorder.unseen("hook-failed", f"{estimator.name}.{method} could not be described: {error}", took)
        return
    _native.leave(token, (), None, {"facts": text(told)}, 0, stays and f"{estimator.name}.{method}({stays})")


def _told(
    estimator: names.Estimator, method: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
) -> tuple[facts.Facts, str | None]:
    """The facts of a call, and the id of why it stays on the host."""
    model = args[0]
    first = args[1] if len(args) > 1 else next((kwargs[name] for name in _FIRST if name in kwargs), None)
    told: facts.Facts = {"n": 0, "d": 0, "dtype": "f64"}
    if first is not None:
        told = facts.of_data(first)
    told.update(facts.of_model(model, method in FITS))
    if result is not model:
        facts.of_result(result, told)
    if estimator.package in names.BOOSTING:
        wrappers.of_wrapper(model, told)
        return told, None
    given: dict[str, Any] = {"X": first}
    if method in FITS:
        given["y"] = args[2] if len(args) > 2 else kwargs.get("y")
        given["sample_weight"] = kwargs.get("sample_weight")
    return told, rules.stays(estimator.short, model, given)


def text(told: facts.Facts) -> str:
    """The facts as JSON."""
    key = tuple(told.items())
    known = _texts.get(key)
    if known is None:
        known = json.dumps(told, sort_keys=True)
        if len(_texts) < _MOST_TEXTS:
            _texts[key] = known
    return known
