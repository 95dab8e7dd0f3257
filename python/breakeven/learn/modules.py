"""Modules that hold what is hooked. Nothing is imported here: it is known before the script begins."""

from __future__ import annotations

#: Those of scikit-learn with public functions.
MODULES = (
    "sklearn.cluster",
    "sklearn.covariance",
    "sklearn.datasets",
    "sklearn.decomposition",
    "sklearn.feature_selection",
    "sklearn.linear_model",
    "sklearn.manifold",
    "sklearn.metrics",
    "sklearn.metrics.cluster",
    "sklearn.metrics.pairwise",
    "sklearn.model_selection",
    "sklearn.neighbors",
    "sklearn.preprocessing",
    "sklearn.utils",
)
#: Classes by module, and their methods that are ops.
NATIVE: dict[str, dict[str, tuple[str, ...]]] = {
    "xgboost.core": {
        "Booster": ("boost", "eval_set", "inplace_predict", "predict", "update"),
        "DMatrix": ("__init__",),
        "QuantileDMatrix": ("__init__",),
        "ExtMemQuantileDMatrix": ("__init__",),
    },
    "lightgbm.basic": {
        "Booster": ("eval_train", "eval_valid", "predict", "refit", "update"),
        "Dataset": ("construct",),
    },
    "catboost.core": {"Pool": ("__init__",)},
}
