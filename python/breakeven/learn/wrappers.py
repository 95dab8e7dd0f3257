"""The parameters that decide the work of an estimator of XGBoost, LightGBM or CatBoost."""

from __future__ import annotations

from .names import BOOSTING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .facts import Facts

#: What they do where nothing is said.
_DEPTH = {"xgboost": 6, "catboost": 6}
_ROUNDS = {"catboost": 1000}


def of_wrapper(model: Any, facts: Facts) -> None:
    """Rounds, depth, leaves and trees a round, added."""
    given = model.get_params()
    package = next((root for base in type(model).__mro__ if (root := base.__module__.split(".")[0]) in BOOSTING), "")
    rounds = given.get("n_estimators") or given.get("iterations") or given.get("num_trees")
    facts["rounds"] = int(rounds or _ROUNDS.get(package, 100))
    depth = given.get("max_depth") or given.get("depth")
    facts["depth"] = int(depth) if depth and int(depth) > 0 else _DEPTH.get(package, 0)
    if package == "lightgbm":
        facts["leaves"] = int(given.get("num_leaves") or 31)
    classes = int(facts.get("classes", 1))
    facts["groups"] = classes if classes > 2 else 1
