"""What a class of estimators is: one whose calls are ops, one that only calls others, the script's own, or unknown."""

from __future__ import annotations

import os
import sys
import sysconfig
from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Packages whose estimators are known, and where users find the classes: the packages or the modules that hold them.
BOOSTING = ("catboost", "lightgbm", "xgboost")
KNOWN = (*BOOSTING, "hdbscan", "sklearn", "umap")

#: Their calls are calls of other estimators, which are recorded where they are made.
CONTAINERS = frozenset(
    {
        "AdaBoostClassifier",
        "AdaBoostRegressor",
        "BaggingClassifier",
        "BaggingRegressor",
        "BaseSearchCV",
        "CalibratedClassifierCV",
        "ClassifierChain",
        "ColumnTransformer",
        "FeatureUnion",
        "FixedThresholdClassifier",
        "FrozenEstimator",
        "GridSearchCV",
        "HalvingGridSearchCV",
        "HalvingRandomSearchCV",
        "IterativeImputer",
        "MultiOutputClassifier",
        "MultiOutputRegressor",
        "OneVsOneClassifier",
        "OneVsRestClassifier",
        "OutputCodeClassifier",
        "Pipeline",
        "RANSACRegressor",
        "RFE",
        "RFECV",
        "RandomizedSearchCV",
        "RegressorChain",
        "SelectFromModel",
        "SelfTrainingClassifier",
        "SequentialFeatureSelector",
        "StackingClassifier",
        "StackingRegressor",
        "TransformedTargetRegressor",
        "TunedThresholdClassifierCV",
        "VotingClassifier",
        "VotingRegressor",
    }
)

_SITE = tuple({sysconfig.get_path(name) + os.sep for name in ("purelib", "platlib")})


@dataclass(frozen=True)
class Estimator:
    """A class whose calls are ops, by the name that users know."""

    name: str
    short: str
    package: str
    #: It is of a package that breakeven does not know: its calls are not understood.
    unknown: bool = False


def public(module: str, name: str) -> str:
    """Where users find a class: `sklearn.cluster.KMeans` for one of `sklearn.cluster._kmeans`."""
    parts = module.split(".")
    if parts[0] in (*BOOSTING, "hdbscan", "umap"):
        return f"{parts[0]}.{name}"
    kept = []
    for part in parts:
        if part.startswith("_"):
            break
        kept.append(part)
    return ".".join([*kept, name])


def package(of: type) -> str:
    """The package of a class; nothing of the script's own."""
    module = of.__module__
    root = module.split(".", 1)[0]
    if root in KNOWN:
        return root
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return root if file.startswith(_SITE) else ""


_known: dict[type, Estimator | None] = {}


def estimator(of: type) -> Estimator | None:
    """What calls of this class are recorded as: the nearest of its bases that is a library's.

    None where only those of other estimators within them are.
    """
    try:
        return _known[of]
    except KeyError:
        found = _known[of] = _find(of)
        return found


def _find(of: type) -> Estimator | None:
    for base in of.__mro__:
        root, name = package(base), base.__name__
        if not root or root == "sklearn" and name in CONTAINERS:
            if root:
                return None
            continue
        if name.startswith(("_", "Base")) or name.endswith("Mixin") or name in ("TransformerMixin", "type", "object"):
            continue
        if base.__module__ in ("builtins", "abc", "typing"):
            continue
        return Estimator(public(base.__module__, name), name, root, root not in KNOWN)
    return None


def is_wrapped(of: Any) -> bool:
    """Whether methods that this class defines are seen: those of libraries are, the script's own are its code."""
    return bool(package(of))
