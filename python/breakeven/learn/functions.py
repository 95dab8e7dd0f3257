"""scikit-learn's public functions (`silhouette_score`, `make_blobs`, `train_test_split`) as ops that stay on the host.

Each is replaced in every module of scikit-learn that holds it, as SciPy's are. Functions that fit estimators
(`cross_val_score`) are left alone: their fits are recorded.
"""

from __future__ import annotations

import sys

from .. import _native
from ..process import looks
from ..scipy.named_ops import parameters
from . import calls
from .modules import MODULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: These fit estimators, or compute nothing.
PASSING = frozenset(
    {
        "check_cv",
        "check_scoring",
        "cross_val_predict",
        "cross_val_score",
        "cross_validate",
        "distance_metrics",
        "get_scorer",
        "get_scorer_names",
        "kernel_metrics",
        "learning_curve",
        "make_scorer",
        "permutation_test_score",
        "validation_curve",
    }
)
#: Of these, too, only some are work.
_UTILITIES = frozenset({"resample", "shuffle"})


#: Packages whose modules are hooked with them: users find most of the functions in the package.
_WHOLE = "sklearn.metrics"


def whole(module: str) -> str:
    """The package after whose import a module is hooked; its own functions then have the package's names."""
    return _WHOLE if module.startswith(_WHOLE) else module


def public(module: str) -> list[str]:
    """The names of the functions of a module that are recorded."""
    contents = vars(sys.modules[module])
    names = contents.get("__all__") or [name for name in contents if not name.startswith("_")]
    if module == "sklearn.utils":
        names = [name for name in names if name in _UTILITIES]
    skipped = ("check_", "clear_", "get_", "is_")
    return [
        name
        for name in names
        if name not in PASSING
        and not name.startswith(skipped)
        and type(contents.get(name)).__name__ in ("function", "Named")
        and str(getattr(contents[name], "__module__", "")).startswith("sklearn." if "__all__" in contents else module)
    ]


def hook(module: str) -> None:
    """Replace the functions of a module that has just been imported, and of the modules that are hooked with it."""
    for each in MODULES:
        if whole(each) == module and each in sys.modules:
            _hook(each)


def _hook(module: str) -> None:
    contents = vars(sys.modules[module])
    found = [(name, contents[name]) for name in public(module)]
    replaced = {id(f): _named(f, f"{module}.{name}") for name, f in found if not isinstance(f, _native.Named)}
    for holder, held in list(sys.modules.items()):
        if holder == "sklearn" or holder.startswith("sklearn."):
            for name, value in list(vars(held).items()):
                if not name.startswith("__") and id(value) in replaced:
                    setattr(held, name, replaced[id(value)])


def _enter(name: str) -> int:
    if calls.inside.any():
        return 0
    token = _native.enter(name, True)
    if token:
        calls.inside.begins()
    return token


def _leave(token: int, inputs: tuple[Any, ...], result: Any, _words: Any = None) -> None:
    if token:
        calls.inside.ends()
        failed = result is None and not inputs
        _native.leave(token, (), None, None if failed else {"facts": "{}"})


def _named(function: Any, name: str) -> _native.Named:
    stand_in = _native.Named(function, name, _enter, _leave, parameters=parameters(function))
    return looks.wrapping(stand_in, function)


def hook_workers(module: str) -> None:
    """What threads of a pool do for a call that is an op is part of it: `sklearn.utils.parallel` has been imported."""
    wrapper = sys.modules[module]._FuncWrapper
    call = wrapper.__call__
    wrapper.__call__ = _native.Named(call, f"{module}.delayed", _work_begins, _work_ends)


def _work_begins(name: str) -> int:
    return _native.enter(name, True) if calls.inside.any() and not calls.inside.depth else 0


def _work_ends(token: int, _inputs: tuple[Any, ...], _result: Any, _words: Any = None) -> None:
    if token:
        _native.leave(token, (), None)
