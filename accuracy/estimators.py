"""How far estimators are from the sum of their parts: fits `ports/cuml_factors.csv`, and says how wrong the whole is.

    python accuracy/estimators.py fit --data FILE      writes crates/breakeven/ports/cuml_factors.csv
    python accuracy/estimators.py score --data FILE    writes accuracy/estimators.json: errors on what was left out

`FILE` is a table of published timings (columns framework, gpu, algorithm_or_query, params, n_rows, n_cols_or_dims, dtype,
phase, cpu_s, gpu_s, source). Each row becomes one recorded call of the installed package, and is answered by its engine.

The law: ln(measured ÷ sum of parts) of an estimator's phase is g + e, where g belongs to all and e is the estimator's own,
of standard deviation `between`; a row is off by `within` beside. An estimator with rows is drawn to g by as many as it has;
one without has g, and the spread of both.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from breakeven import _native

ROOT = Path(__file__).parents[1]
FACTORS = ROOT / "crates" / "breakeven" / "ports" / "cuml_factors.csv"
LEDGER = ROOT / "accuracy" / "estimators.json"
Z90 = 1.2815515655446004
GPUS = {
    "RTX PRO 6000 Blackwell Workstation": "rtx-pro-6000-blackwell-workstation",
    "A100-SXM4-40GB": "a100-sxm4-40gb",
    "H100 PCIe 80GB": "h100-pcie-80gb",
    "A10G": "a10g",
}
ESTIMATORS = {
    "DBSCAN": ("sklearn.cluster.DBSCAN", "dbscan"),
    "HDBSCAN": ("hdbscan.HDBSCAN", "hdbscan"),
    "KMeans": ("sklearn.cluster.KMeans", "kmeans"),
    "KNeighborsRegressor": ("sklearn.neighbors.KNeighborsRegressor", "neighbours"),
    "NearestNeighbors": ("sklearn.neighbors.NearestNeighbors", "neighbours"),
    "KernelDensity": ("sklearn.neighbors.KernelDensity", "density"),
    "Lasso": ("sklearn.linear_model.Lasso", "coordinates"),
    "LinearRegression": ("sklearn.linear_model.LinearRegression", "least_squares"),
    "Ridge": ("sklearn.linear_model.Ridge", "least_squares"),
    "PCA": ("sklearn.decomposition.PCA", "pca"),
    "RandomForestClassifier": ("sklearn.ensemble.RandomForestClassifier", "forest"),
    "SVC": ("sklearn.svm.SVC", "svc"),
    "StandardScaler": ("sklearn.preprocessing.StandardScaler", "scaler"),
    "TSNE": ("sklearn.manifold.TSNE", "tsne"),
    "UMAP": ("umap.UMAP", "umap"),
}
BOOSTERS = {"xgboost": "xgboost.XGBClassifier", "lightgbm": "lightgbm.LGBMClassifier", "catboost": "catboost.CatBoostClassifier"}
#: Sources whose fits were timed on 90 % of the rows.
PART = {"NVIDIA/cuml": 0.9}
#: What the tables do not tell, counted by running scikit-learn 1.9.1 on data of the same kind (make_blobs, make_classification,
#: make_regression, seed 42): rounds of k-means and of lasso, steps of libsvm and support vectors by columns.
ROUNDS = {"KMeans": 2, "Lasso": 4}
STEPS = {8: (2450, 1450), 64: (4500, 2500), 512: (7500, 5300)}
VECTORS = 0.45
#: k-means of the first source ran until its limit or near it, by its times; nobody counted.
UNTOLD = [("KMeans", "fit_predict", "NVIDIA/cuml")]


@dataclass
class Row:
    """One published timing, and what is said of it."""

    estimator: str
    algorithm: str
    phase: str
    callable: str
    facts: dict[str, Any]
    gpu: str
    source: str
    gpu_s: float
    cpu_s: float | None
    base: float = 0.0
    fixed: float = 0.0
    #: Of the whole answer as shipped: p10, p50, p90.
    said: tuple[float, float, float] = (0.0, 0.0, 0.0)
    workload: dict[str, Any] = field(default_factory=dict)

    @property
    def law(self) -> str:
        return f"{self.algorithm}:{self.phase}"


def read(path: Path) -> list[Row]:
    """The rows that are of an estimator, in the order of the file."""
    found = []
    with path.open(newline="") as file:
        for cells in csv.DictReader(file):
            row = _row(cells)
            if row is not None:
                found.append(row)
    return found


def _row(cells: dict[str, str]) -> Row | None:
    framework, name = cells["framework"], cells["algorithm_or_query"]
    gpu, source = GPUS.get(cells["gpu"]), cells["source"].split("@")[0]
    if gpu is None or not cells["gpu_s"]:
        return None
    times = (float(cells["gpu_s"]), float(cells["cpu_s"]) if cells["cpu_s"] else None)
    if framework in BOOSTERS:
        n = int(cells["n_rows"])
        facts: dict[str, Any] = {"n": n, "d": 8, "dtype": "f32", "order": "C", "rounds": 100, "depth": 10, "groups": 1}
        if framework == "xgboost":
            facts |= {"d": 690, "nnz": 8 * n}
        if framework == "lightgbm":
            facts |= {"leaves": 512, "depth": 0}
        return Row(framework, framework, "fit", f"{BOOSTERS[framework]}.fit", facts, gpu, source, *times)
    if name not in ESTIMATORS:
        return None
    full, algorithm = ESTIMATORS[name]
    return _estimator(cells, name, full, algorithm, gpu, source, times)


def _estimator(
    cells: dict[str, str], name: str, full: str, algorithm: str, gpu: str, source: str, times: tuple[float, float | None]
) -> Row:
    method = cells["phase"]
    half = "fit" if method == "fit" else "both" if method.startswith("fit_") else "use"
    n, d = int(cells["n_rows"]), int(cells["n_cols_or_dims"])
    if half != "use":
        n = round(n * PART.get(source, 1.0))
    given = dict(part.split("=", 1) for part in cells["params"].split(";") if "=" in part)
    facts: dict[str, Any] = {"n": n, "d": d, "dtype": "f32", "order": "C"}
    names = {"n_clusters": "clusters", "n_neighbors": "neighbours", "n_components": "components", "n_estimators": "trees",
             "max_depth": "depth", "fitted_rows": "fitted"}
    facts |= {fact: int(given[key]) for key, fact in names.items() if key in given}
    if name in ROUNDS:
        facts["iterations"] = ROUNDS[name]
    if name == "SVC":
        steps, vectors = STEPS.get(d, STEPS[64])
        facts |= {"iterations": steps, "vectors": vectors} if half == "fit" else {"vectors": round(VECTORS * facts["fitted"])}
    return Row(name, algorithm, half, f"{full}.{method}", facts, gpu, source, *times)


def answer(row: Row, options: dict[str, Any] | None = None) -> dict[str, Any]:
    """What the engine says of one call on one GPU, once that has been in use."""
    _native.after_fork_child(None)
    _native.start()
    token = _native.enter(row.callable, True)
    _native.leave(token, (), None, {"facts": json.dumps(row.facts)})
    row.workload = json.loads(_native.snapshot())
    _native.stop()
    request = {"workload": row.workload, "options": {"gpu": [row.gpu], "exclude_startup": True} | (options or {})}
    return dict(json.loads(_native.answer(json.dumps(request))))
