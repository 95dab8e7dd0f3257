"""The hook: the methods of each class of estimators that a library defines are replaced, in place, by stand-ins.

scikit-learn calls `_MetadataRequester.__init_subclass__` for each class that is made of its base classes, also those of
other libraries; nothing is imported for it. A stand-in is `_native.Named`: a function to `inspect`, with the function's
signature, equal to it, and without a frame in tracebacks.
"""

from __future__ import annotations

import sys

from .. import _native
from ..process import looks
from . import calls, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: Methods that compute. What mixins make of them (`score`, which predicts) is none of its own, but for these.
METHODS = (
    "apply",
    "decision_function",
    "fit",
    "fit_predict",
    "fit_transform",
    "inverse_transform",
    "kneighbors",
    "kneighbors_graph",
    "partial_fit",
    "predict",
    "predict_log_proba",
    "predict_proba",
    "radius_neighbors",
    "radius_neighbors_graph",
    "sample",
    "score",
    "score_samples",
    "staged_predict",
    "transform",
)
_MIXINS = ("ClusterMixin", "OutlierMixin", "TransformerMixin")


def hook(_: str) -> None:
    """Replace methods of all classes from now on; `sklearn.utils._metadata_requests` has been imported."""
    base = sys.modules["sklearn.utils._metadata_requests"]._MetadataRequester
    plain = base.__dict__["__init_subclass__"].__func__

    def begins(_: str, __: Any) -> int:
        return 0

    def ends(_token: int, given: tuple[Any, ...], _result: Any, __: Any = None) -> None:
        if given and isinstance(given[0], type):
            replace(given[0])

    base.__init_subclass__ = classmethod(_native.Named(plain, "__init_subclass__", begins, ends, True))


def hook_mixins(_: str) -> None:
    """The same of mixins, which are made of nothing of scikit-learn's; `sklearn.base` has been imported."""
    base = sys.modules["sklearn.base"]
    for name in _MIXINS:
        if (mixin := getattr(base, name, None)) is not None:
            replace(mixin)


def replace(cls: type) -> None:
    """Replace the methods that a library's class defines, or a mixin that it is made of."""
    for each in cls.__mro__:
        if each is object or "score" in each.__dict__ and each.__name__.endswith("Mixin"):
            continue
        if not names.is_wrapped(each):
            continue
        for method in METHODS:
            _replace(each, method)


def _replace(cls: type, method: str) -> None:
    found = cls.__dict__.get(method)
    if found is None or isinstance(found, (_native.Named, classmethod, staticmethod, property, type)):
        return
    if type(found).__name__ == "_AvailableIfDescriptor":
        if not isinstance(found.fn, _native.Named):
            found.fn = _stand_in(found.fn, method)
    elif callable(found) and hasattr(found, "__code__"):
        setattr(cls, method, _stand_in(found, method))


def _stand_in(function: Any, method: str) -> _native.Named:
    return named(function, method, calls.entered, calls.left)


def named(function: Any, name: str, enter: Callable[..., Any], leave: Callable[..., Any]) -> _native.Named:
    """A stand-in for a method: `enter(name, args, kwargs)` before it, `leave(what that gave, …)` after."""
    return looks.wrapping(_native.Named(function, name, enter, leave, keywords=True), function)
