"""Estimators are what they were: to `inspect`, pickle and clone, to metadata routing, in errors and tracebacks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn")

PROGRAM = """
import copy, inspect, pickle, sys, traceback
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
import joblib

X = np.random.default_rng(0).normal(size=(300, 5)); y = (X[:, 0] > 0).astype(int)
for cls in (KMeans, LogisticRegression, Ridge, SVC, StandardScaler):
    for name in ("fit", "predict", "transform", "fit_transform", "score"):
        method = getattr(cls, name, None)
        if method is not None:
            print(cls.__name__, name, inspect.isfunction(method), inspect.signature(method), method.__qualname__,
                  method.__module__, len(method.__doc__ or ""), inspect.getsource(method)[:40])
print(KMeans().get_metadata_routing(), type(KMeans().set_fit_request))
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
again = pickle.loads(pickle.dumps(model))
print((again.predict(X) == model.predict(X)).all(), clone(model), copy.deepcopy(model).get_params()["logisticregression__C"])
print(pickle.loads(pickle.dumps(model.predict))(X[:4]), pickle.loads(pickle.dumps(KMeans.fit)) == KMeans.fit)
print(pickle.loads(pickle.dumps(f1_score)) == f1_score, is_classifier(model), isinstance(model, BaseEstimator))

class Mine(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y); self.inner_ = LogisticRegression().fit(X, y); return self
    def predict(self, X):
        return self.inner_.predict(X)

class Loud(Ridge):
    def fit(self, X, y, sample_weight=None):
        print("loud"); return super().fit(X, y, sample_weight)

print(Mine().fit(X, y).score(X, y), inspect.signature(Mine.fit), type(Mine.fit))
print(Loud().fit(X, y).coef_.round(3), Loud)
with joblib.parallel_config("loky", n_jobs=2):
    print(GridSearchCV(Mine(), {}, cv=2, scoring=make_scorer(f1_score)).fit(X, y).best_score_)
print(GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2, n_jobs=2).fit(X, y).best_params_)
for wrong in (lambda: KMeans().predict(X), lambda: KMeans(3).fit("x"), lambda: SVC().fit(X), lambda: SVC().predict_proba,
              lambda: KMeans(n_clusters=-1).fit(X), lambda: f1_score(1, 2, 3, 4)):
    try:
        wrong()
    except Exception:
        traceback.print_exc()
raise SystemExit(3)
"""


def test_estimators_are_what_they_were(tmp_path: Path, native: None) -> None:
    script = tmp_path / "same.py"
    script.write_text(PROGRAM)
    record = tmp_path / "record"
    record.mkdir()
    env = {name: value for name, value in os.environ.items() if not name.startswith("BREAKEVEN_")}
    plain = subprocess.run([sys.executable, str(script)], env=env, capture_output=True, text=True, timeout=240)
    env |= {"BREAKEVEN_RECORD_DIR": str(record)}
    traced = subprocess.run(
        [sys.executable, "-m", "breakeven._run", str(script)], env=env, capture_output=True, text=True, timeout=240
    )
    assert (traced.returncode, traced.stdout) == (plain.returncode, plain.stdout)
    assert traced.stderr == plain.stderr
    assert plain.returncode == 3, plain.stderr
