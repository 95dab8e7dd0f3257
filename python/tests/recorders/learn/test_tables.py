"""Every public estimator is in the tables, and fallbacks are those of cuml.accel."""

from __future__ import annotations

import csv
import importlib
import json
from pathlib import Path

import pytest

pytest.importorskip("sklearn")

import tables  # noqa: E402
from breakeven.learn.fallbacks import rules  # noqa: E402
from breakeven.learn.methods import METHODS  # noqa: E402

ENGINE = Path(__file__).parents[4] / "crates" / "breakeven"


def names(path: Path) -> dict[str, list[str]]:
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return {row[0]: row for row in csv.reader(lines)}


def test_every_method_of_every_estimator_is_listed() -> None:
    callables, ports = names(ENGINE / "callables" / "learn.csv"), names(ENGINE / "ports" / "cuml.csv")
    missing = [
        full
        for name, cls in tables.estimators()
        for method in METHODS
        if tables.has(cls, method) and ((full := f"{name}.{method}") not in callables or full not in ports)
    ]
    assert not missing


def test_both_tables_have_the_same_names() -> None:
    assert names(ENGINE / "callables" / "learn.csv").keys() == names(ENGINE / "ports" / "cuml.csv").keys()


def test_the_files_are_what_the_tool_writes() -> None:
    for library in ("xgboost", "lightgbm", "catboost"):
        pytest.importorskip(library)
    stale = [path.name for path, text in tables.texts().items() if path.read_text() != text]
    assert not stale, "python python/tests/recorders/learn/tables.py"


@pytest.mark.parametrize("left_out", ["estimator", "source"])
def test_the_committed_errors_are_small_enough(left_out: str) -> None:
    ledger = json.loads((ENGINE.parents[1] / "accuracy" / "estimators.json").read_text())[left_out]
    assert ledger["within_2x"] >= 0.8
    assert ledger["verdict_right"] >= 0.9
    assert 0.7 <= ledger["within_interval"] <= 0.92


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("sklearn.svm.SVC", {"probability": True}, "probability"),
        ("sklearn.svm.SVC", {}, None),
        ("sklearn.linear_model.Ridge", {"positive": True}, "positive"),
        ("sklearn.ensemble.RandomForestClassifier", {"criterion": "log_loss"}, "criterion"),
        ("sklearn.ensemble.RandomForestClassifier", {"max_samples": 5}, "max_samples"),
        ("sklearn.ensemble.RandomForestClassifier", {"max_samples": 0.5}, None),
        ("sklearn.cluster.SpectralClustering", {}, "affinity"),
        ("sklearn.cluster.DBSCAN", {"metric": "cosine"}, None),
        ("sklearn.cluster.DBSCAN", {"metric": "manhattan"}, "metric"),
        ("sklearn.neighbors.KNeighborsClassifier", {"weights": len}, "weights"),
        ("sklearn.manifold.TSNE", {"n_components": 3}, "n_components"),
        ("sklearn.preprocessing.TargetEncoder", {}, "random_state"),
        ("sklearn.preprocessing.TargetEncoder", {"random_state": 0}, None),
    ],
)
def test_parameters_that_fall_back(name: str, given: dict[str, object], expected: str | None) -> None:
    module, _, short = name.rpartition(".")
    model = getattr(importlib.import_module(module), short)(**given)
    assert rules.stays(short, model, {}) == expected
