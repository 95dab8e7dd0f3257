"""Writes `callables/learn.csv` and `ports/cuml.csv` from the installed libraries and what is known of cuml.accel below.

    python python/tests/recorders/learn/tables.py [--check]

Which estimators and methods cuml.accel runs was read in the wheel cuml-cu12 26.10.0, `cuml/accel/_overrides`; what falls
back is in `breakeven/learn/fallbacks.csv`. How far times are from the sum of an algorithm's parts comes from
`ports/cuml_factors.csv`, which `accuracy` fits.
"""

from __future__ import annotations

import csv
import importlib
import inspect
import sys
import warnings
from pathlib import Path

from breakeven.learn import fallbacks, functions, names
from breakeven.learn.methods import METHODS

ENGINE = Path(__file__).parents[4] / "crates" / "breakeven"
FIT, TRANSFORM = ("fit",), ("fit", "transform", "fit_transform", "inverse_transform")
CLASSIFY = ("fit", "predict", "predict_proba", "predict_log_proba")
LOOK = ("fit", "kneighbors", "kneighbors_graph")

#: Estimators of scikit-learn that cuml.accel 26.10 runs: algorithm, methods.
CUML = {
    "KMeans": ("kmeans", ("fit", "fit_predict", "fit_transform", "predict", "score", "transform")),
    "DBSCAN": ("dbscan", ("fit", "fit_predict")),
    "HDBSCAN": ("hdbscan", ("fit", "fit_predict")),
    "SpectralClustering": ("spectral", ("fit", "fit_predict")),
    "EmpiricalCovariance": ("covariance", ("fit", "score")),
    "LedoitWolf": ("covariance", ("fit", "score")),
    "PCA": ("pca", TRANSFORM),
    "IncrementalPCA": ("pca", (*TRANSFORM, "partial_fit")),
    "TruncatedSVD": ("truncated_svd", TRANSFORM),
    "RandomForestClassifier": ("forest", CLASSIFY),
    "RandomForestRegressor": ("forest", ("fit", "predict")),
    "IsolationForest": ("isolation", ("fit", "fit_predict", "predict", "decision_function", "score_samples")),
    "KernelRidge": ("kernel_ridge", ("fit", "predict")),
    "LinearRegression": ("least_squares", ("fit", "predict")),
    "Ridge": ("least_squares", ("fit", "predict")),
    "ElasticNet": ("coordinates", ("fit", "predict")),
    "Lasso": ("coordinates", ("fit", "predict")),
    "LogisticRegression": ("logistic", (*CLASSIFY, "decision_function")),
    "SpectralEmbedding": ("spectral_embedding", ("fit", "fit_transform")),
    "TSNE": ("tsne", ("fit", "fit_transform")),
    "NearestNeighbors": ("neighbours", (*LOOK, "radius_neighbors_graph")),
    "KNeighborsClassifier": ("neighbours", (*LOOK, "predict", "predict_proba")),
    "KNeighborsRegressor": ("neighbours", (*LOOK, "predict")),
    "KernelDensity": ("density", ("fit", "sample", "score", "score_samples")),
    "StandardScaler": ("scaler", (*TRANSFORM, "partial_fit")),
    "MinMaxScaler": ("scaler", (*TRANSFORM, "partial_fit")),
    "MaxAbsScaler": ("scaler", (*TRANSFORM, "partial_fit")),
    "PolynomialFeatures": ("polynomial", ("fit", "transform", "fit_transform")),
    "OneHotEncoder": ("encoder", TRANSFORM),
    "TargetEncoder": ("encoder", ("fit", "transform", "fit_transform")),
    "LabelEncoder": ("labels", TRANSFORM),
    "LabelBinarizer": ("labels", TRANSFORM),
    "SVC": ("svc", ("fit", "predict", "decision_function")),
    "SVR": ("svc", ("fit", "predict")),
    "LinearSVC": ("linear_svc", ("fit", "predict", "decision_function")),
    "LinearSVR": ("linear_svc", ("fit", "predict")),
}
#: Of other packages.
OTHERS = {
    "umap.UMAP": (
        "umap",
        ("fit", "transform", "fit_transform", "inverse_transform"),
        ("fit", "transform", "fit_transform"),
    ),
    "hdbscan.HDBSCAN": ("hdbscan", ("fit", "fit_predict"), ("fit", "fit_predict")),
}
#: Boosting: classes of each library, and how it is asked for its GPU.
BOOSTING = {
    "xgboost": (
        ("XGBModel", "XGBClassifier", "XGBRegressor", "XGBRanker", "XGBRFClassifier", "XGBRFRegressor"),
        'xgboost with device="cuda"',
    ),
    "lightgbm": (
        ("LGBMModel", "LGBMClassifier", "LGBMRegressor", "LGBMRanker"),
        'lightgbm with device_type="gpu" (OpenCL)',
    ),
    "catboost": (
        ("CatBoost", "CatBoostClassifier", "CatBoostRegressor", "CatBoostRanker"),
        'catboost with task_type="GPU"',
    ),
}
NATIVE = {
    "xgboost": {
        "Booster.update": "fit",
        "Booster.boost": "fit",
        "Booster.predict": "use",
        "Booster.inplace_predict": "use",
        "Booster.eval_set": "use",
        "DMatrix": None,
        "QuantileDMatrix": None,
        "ExtMemQuantileDMatrix": None,
    },
    "lightgbm": {
        "Booster.update": "fit",
        "Booster.refit": "fit",
        "Booster.predict": "use",
        "Booster.eval_train": "use",
        "Booster.eval_valid": "use",
        "Dataset.construct": None,
    },
    "catboost": {"Pool": None},
}
FITTED = ("fit", "partial_fit")
BOTH = ("fit_predict", "fit_transform")


def phase(method: str) -> str:
    """Which half of an algorithm a method is."""
    return "fit" if method in FITTED else "both" if method in BOTH else "use"


def has(cls: type, method: str) -> bool:
    """Whether a class has a method; not where only a mixin scores what it predicts."""
    found = inspect.getattr_static(cls, method, None)
    if found is None:
        return False
    owner = next(base for base in cls.__mro__ if method in base.__dict__)
    return not (method == "score" and owner.__name__.endswith("Mixin"))


def estimators() -> list[tuple[str, type]]:
    """Every public estimator of scikit-learn, by the name that is recorded."""
    from sklearn.utils import all_estimators

    return sorted((names.public(cls.__module__, name), cls) for name, cls in all_estimators())


def factors() -> dict[str, str]:
    """The column `passes` by algorithm and phase."""
    path = ENGINE / "ports" / "cuml_factors.csv"
    if not path.exists():
        return {}
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return {f"{row['algorithm']}:{row['phase']}": f"{row['p10']}..{row['p90']}" for row in csv.DictReader(lines)}


class Tables:
    """Rows of both tables, by name."""

    def __init__(self) -> None:
        self.callables: dict[str, tuple[str, str]] = {}
        self.ports: dict[str, tuple[str, ...]] = {}
        self.factors = factors()
        self.reasons: dict[str, list[dict[str, str]]] = {}
        for row in fallbacks.rows():
            for short in row["estimator"].split("|"):
                self.reasons.setdefault(short, []).append(row)

    def host(self, name: str, why: str, rule: str = "host") -> None:
        self.callables[name] = (rule, "atomic" if rule == "host" else "composite")
        self.ports[name] = ("host", why)

    def device(self, name: str, algorithm: str, half: str, counterpart: str, counted: str) -> None:
        passes = self.factors.get(f"{algorithm}:{half}", "?")
        self.callables[name] = (f"learn:{algorithm}:{half}", "atomic")
        self.ports[name] = ("device", counterpart, "", "waits", passes, "" if passes == "?" else counted)

    def estimator(self, name: str, short: str, algorithm: str, methods: list[str], runs: tuple[str, ...]) -> None:
        for method in methods:
            full = f"{name}.{method}"
            if method not in runs:
                for other in (full, *(f"{full}({row['id']})" for row in self.reasons.get(short, ()))):
                    self.host(other, f"cuml.accel 26.10 runs {short} but not this method")
                continue
            self.device(full, algorithm, phase(method), f"cuml.accel: {short}.{method}", "accuracy/estimators.json")
            for row in self.reasons.get(short, ()):
                edit = f"; {row['edit']}" if row["edit"] else ""
                fallen = f"{full}({row['id']})"
                self.host(fallen, f"cuml.accel 26.10 leaves it on the CPU: {row['reason']}{edit}")
                # What it would be without.
                self.callables[fallen] = (f"learn:{algorithm}:{phase(method)}", "atomic")

    def boosting(self) -> None:
        for package, (classes, counterpart) in BOOSTING.items():
            for short in classes:
                methods = [
                    method for method in METHODS if has(getattr(importlib.import_module(package), short), method)
                ]
                for method in methods:
                    half = phase(method)
                    self.device(f"{package}.{short}.{method}", package, half, counterpart, "accuracy/estimators.json")
            for name, half in NATIVE[package].items():
                full = f"{package}.{name}"
                if half is None:
                    self.host(full, "the data are made ready on the CPU, and copied at the first round")
                else:
                    self.device(full, package, half, counterpart, "accuracy/estimators.json")

    def scikit_learn(self) -> None:
        for name, cls in estimators():
            short = cls.__name__
            methods = [method for method in METHODS if has(cls, method)]
            if short in names.CONTAINERS:
                for method in methods:
                    self.host(f"{name}.{method}", "what it calls is recorded", "composite")
            elif short in CUML:
                algorithm, runs = CUML[short]
                self.estimator(name, short, algorithm, methods, runs)
            else:
                for method in methods:
                    self.host(f"{name}.{method}", f"{short} is not among the estimators of cuml.accel 26.10")
        for module in functions.MODULES:
            importlib.import_module(module)
            for function in functions.public(module):
                self.host(f"{module}.{function}", "cuml.accel has estimators and none of scikit-learn's functions")
        self.host("sklearn.utils.parallel.delayed", "part of the call that a pool of threads works for")

    def others(self) -> None:
        for name, (algorithm, methods, runs) in OTHERS.items():
            self.estimator(name, name.split(".")[1], algorithm, list(methods), runs)


def texts() -> dict[Path, str]:
    """Both files."""
    warnings.simplefilter("ignore")
    tables = Tables()
    tables.scikit_learn()
    tables.boosting()
    tables.others()
    callables = [
        "# Public callables of scikit-learn 1.9, XGBoost 3.2, LightGBM 4.7, CatBoost 1.2: name,rule,recorded as",
        "# As scipy.csv. learn:ALGORITHM:PHASE is a file of `lower/learn/`. A name with an id in parentheses is a call",
        "# that its parameters or data keep on the host. Written by python/tests/recorders/learn/tables.py.",
    ]
    ports = [
        "# What of scikit-learn and of boosting libraries a GPU runs, by cuml.accel or by the library itself:",
        "# name,where,counterpart or reason,kernels,waits,passes,counted. Columns as in cupy.csv. passes: how many "
        "times",
        "# the sum of an algorithm's parts its calls take, by ports/cuml_factors.csv. Written by "
        "tests/learn/tables.py from",
        "# the sources in the wheel cuml-cu12 26.10.0 and from breakeven/learn/fallbacks.csv.",
    ]
    return {
        ENGINE / "callables" / "learn.csv": _csv(callables, tables.callables),
        ENGINE / "ports" / "cuml.csv": _csv(ports, tables.ports),
    }


def _csv(head: list[str], rows: dict[str, tuple[str, ...]]) -> str:
    class Lines(list[str]):
        def write(self, line: str) -> None:
            self.append(line)

    lines = Lines(line + "\n" for line in head)
    writer = csv.writer(lines, lineterminator="\n")  # type: ignore[arg-type]
    for name in sorted(rows):
        writer.writerow([name, *rows[name]])
    return "".join(lines)


if __name__ == "__main__":
    stale = [path for path, text in texts().items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv:
        sys.exit("\n".join(f"{path} is not what tables.py writes" for path in stale))
    for path, text in texts().items():
        path.write_text(text)
        print(path, len(text.splitlines()))
