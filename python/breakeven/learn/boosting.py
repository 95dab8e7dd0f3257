"""XGBoost, LightGBM and CatBoost below their estimators: boosters, their data, the parameters that decide the work."""

from __future__ import annotations

import json
import sys
import weakref

from .. import _native
from . import calls, facts as facts_of, methods
from .modules import NATIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .facts import Facts

#: Estimators that are made of none of scikit-learn's classes.
_OWN = ("CatBoost", "CatBoostClassifier", "CatBoostRanker", "CatBoostRegressor")

_parameters: weakref.WeakKeyDictionary[Any, Facts] = weakref.WeakKeyDictionary()


def hook(module: str) -> None:
    """Replace the methods of a module's classes, which has just been imported."""
    contents, package = sys.modules[module], module.split(".")[0]
    for name, its in NATIVE[module].items():
        cls = getattr(contents, name, None)
        for method in its:
            found = cls.__dict__.get(method) if cls is not None else None
            if found is not None and hasattr(found, "__code__") and not isinstance(found, _native.Named):
                own = "" if method == "__init__" else f".{method}"
                setattr(cls, method, methods.named(found, f"{package}.{name}{own}", _enter, _leave))
    for name in _OWN:
        if package == "catboost" and (cls := getattr(contents, name, None)) is not None:
            methods.replace(cls)


_Call = tuple[int, str, "tuple[Any, ...]", "dict[str, Any] | None"]


def _enter(name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> _Call | None:
    if not args or calls.inside.any():
        return None
    token = _native.enter(name, True)
    if not token:
        return None
    calls.inside.begins()
    return token, name, args, kwargs


def _leave(call: _Call | None, inputs: tuple[Any, ...], result: Any, _words: Any = None) -> None:
    if call is None:
        return
    calls.inside.ends()
    token, name, args, kwargs = call
    if result is None and not inputs:
        _native.leave(token, (), None)
        return
    told: Facts = {}
    try:
        told = _told(name, args, kwargs or {}, result)
    finally:
        _native.leave(token, (), None, {"facts": calls.text(told)})


def _told(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any) -> Facts:
    """The facts of a call of a booster or its data."""
    package, cls, *method = name.split(".")
    own = args[0]
    if cls != "Booster":
        return _of_matrix(own)
    facts: Facts = {"rounds": 1}
    data = args[1] if len(args) > 1 else next((kwargs[key] for key in ("dtrain", "data") if key in kwargs), None)
    if package == "lightgbm" and method == ["update"]:
        data = data or getattr(own, "train_set", None)
    facts.update(_of_matrix(data))
    facts.update(_of_booster(package, own))
    if method[-1].endswith("predict"):
        facts["rounds"] = int(own.num_boosted_rounds() if package == "xgboost" else own.num_trees())
        facts_of.of_result(result, facts)
    elif method == ["update"]:
        facts["first"] = int(_is_first(own, data))
    return facts


_trained: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()


def _is_first(booster: Any, data: Any) -> bool:
    """Whether a booster sees this matrix for the first time: it is copied and cut into bins then."""
    if _trained.get(booster) == id(data):
        return False
    _trained[booster] = id(data)
    return True


def _of_matrix(data: Any) -> Facts:
    """Rows, columns and stored elements of a matrix of a booster's; of an array what it says of itself."""
    if hasattr(data, "num_row"):
        facts: Facts = {"n": int(data.num_row()), "d": int(data.num_col()), "dtype": "f32"}
        stored = int(data.num_nonmissing())
        if stored < int(facts["n"]) * int(facts["d"]):
            facts["nnz"] = stored
        return facts
    if hasattr(data, "num_data"):
        if getattr(data, "_handle", None) is None:
            return {"n": 0, "d": 0, "dtype": "f32"}
        return {"n": int(data.num_data()), "d": int(data.num_feature()), "dtype": "f32"}
    return facts_of.of_data(data) if data is not None else {"n": 0, "d": 0, "dtype": "f32"}


def _of_booster(package: str, booster: Any) -> Facts:
    """Its parameters, read once."""
    known = _parameters.get(booster)
    if known is None:
        read = _of_xgboost if package == "xgboost" else _of_lightgbm
        known = _parameters[booster] = read(booster)
    return known


def _of_xgboost(booster: Any) -> Facts:
    learner = json.loads(booster.save_config())["learner"]
    tree = learner.get("gradient_booster", {}).get("tree_train_param", {})
    model = learner.get("learner_model_param", {})
    return {
        "depth": int(tree.get("max_depth", 6)),
        "leaves": int(tree.get("max_leaves", 0)),
        "groups": max(int(model.get("num_class", 1)), 1),
    }


def _of_lightgbm(booster: Any) -> Facts:
    given = booster.params
    leaves = next((given[key] for key in ("num_leaves", "num_leaf", "max_leaves", "max_leaf") if key in given), 31)
    depth = max(int(given.get("max_depth", 0)), 0)
    return {"leaves": int(leaves), "depth": depth, "groups": int(given.get("num_class", 1))}
