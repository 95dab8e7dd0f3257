"""How far estimators are from the sum of their parts: fits `ports/cuml_factors.csv`, and says how wrong the whole is.

    python accuracy/estimators.py fit --data FILE      writes crates/breakeven/ports/cuml_factors.csv
    python accuracy/estimators.py score --data FILE    writes accuracy/estimators.json: errors on what was left out

`FILE` is a table of published timings (columns framework, gpu, algorithm_or_query, params, n_rows, n_cols_or_dims,
dtype, phase, cpu_s, gpu_s, source). Each row becomes one recorded call of the installed package, and its engine answers.

The law: a call takes its host time and launches, and exp(g + e) times the sum of its parts, where g belongs to all and e
is the estimator's own, of standard deviation `between`; a row is off by `within` beside. An estimator with rows is drawn
to g by as many as it has; one without has g, and the spread of both.

Numbers in `lower/learn/` that are marked as fitted were chosen by hand with all rows in view; only g and e are refitted
without what is left out.
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
BOOSTERS = {
    "xgboost": "xgboost.XGBClassifier",
    "lightgbm": "lightgbm.LGBMClassifier",
    "catboost": "catboost.CatBoostClassifier",
}
#: Sources whose fits were timed on 90 % of the rows.
PART = {"NVIDIA/cuml": 0.9}
#: What the tables do not tell, counted by running scikit-learn 1.9.1 on data of the same kind (make_blobs, make_classification,
#: make_regression, seed 42): rounds of k-means and of lasso, steps of libsvm and support vectors by columns.
ROUNDS = {"KMeans": 2, "Lasso": 4}
STEPS = {8: (2450, 1450), 64: (4500, 2500), 512: (7500, 5300)}
VECTORS = 0.45
#: k-means of the first source ran until its limit or near it, by its times; nobody counted.
UNTOLD = [("KMeans", "both", "NVIDIA/cuml")]


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
    cells: dict[str, str],
    name: str,
    full: str,
    algorithm: str,
    gpu: str,
    source: str,
    times: tuple[float, float | None],
) -> Row:
    method = cells["phase"]
    half = "fit" if method == "fit" else "both" if method.startswith("fit_") else "use"
    n, d = int(cells["n_rows"]), int(cells["n_cols_or_dims"])
    if half != "use":
        n = round(n * PART.get(source, 1.0))
    given = dict(part.split("=", 1) for part in cells["params"].split(";") if "=" in part)
    facts: dict[str, Any] = {"n": n, "d": d, "dtype": "f32", "order": "C"}
    names = {
        "n_clusters": "clusters",
        "n_neighbors": "neighbours",
        "n_components": "components",
        "n_estimators": "trees",
        "max_depth": "depth",
        "fitted_rows": "fitted",
    }
    facts |= {fact: int(given[key]) for key, fact in names.items() if key in given}
    if name in ROUNDS:
        facts["iterations"] = ROUNDS[name]
    if name == "SVC":
        steps, vectors = STEPS.get(d, STEPS[64])
        facts |= (
            {"iterations": steps, "vectors": vectors}
            if half == "fit"
            else {"vectors": round(VECTORS * facts["fitted"])}
        )
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


def shipped() -> dict[str, float]:
    """The factors that the installed engine was built with: those of its table, p50."""
    lines = [line for line in FACTORS.read_text().splitlines() if not line.startswith("#")]
    return {
        f"{row['algorithm']}:{row['phase']}": math.sqrt(float(row["p10"]) * float(row["p90"]))
        for row in csv.DictReader(lines)
    }


SHIPPED = shipped()


def prepare(row: Row) -> None:
    """What is said of a row as shipped; the sum of its parts, and what of that is no part: calls and launches."""
    answer(row)
    (entry,) = row.workload["ops"]
    entry["gap_ns"] = 0
    entry["cpu_ns"] = max(int((row.cpu_s or row.gpu_s) * 1e9), 1)
    time = _asked(row, row.workload)["time_s"]
    row.said = (time["p10"], time["p50"], time["p90"])
    parts = entry["op"]["routine"]["parts"]
    # As many launches of nothing: the call itself.
    small = {"elementwise": {"n": 1024, "inputs": 1, "flop_per_element": 1.0, "transcendental": False}}
    launches = [{"op": small, "dtype": "f32", "count": sum(part["count"] for part in parts)}]
    bare = json.loads(json.dumps(row.workload))
    bare["ops"][0]["op"]["routine"]["parts"] = launches
    row.fixed = min(_asked(row, bare)["time_s"]["p50"], row.said[1])
    # Without the factor that ships, which was fitted to these rows.
    row.base = (row.said[1] - row.fixed) / SHIPPED.get(row.law, 1.0)


def _asked(row: Row, workload: dict[str, Any]) -> dict[str, Any]:
    request = {"workload": workload, "options": {"gpu": [row.gpu], "exclude_startup": True}}
    told: dict[str, Any] = json.loads(_native.answer(json.dumps(request)))["estimates"][0]
    return told


@dataclass(frozen=True)
class Law:
    """ln of the factor: of all, of each estimator's phase, and the spreads."""

    mean: float
    own: dict[str, float]
    between: float
    within: float

    def of(self, law: str) -> tuple[float, float]:
        """Centre and spread of an estimator's phase, known or not."""
        if law in self.own:
            return self.own[law], math.hypot(self.within, HOST)
        # A fit alone, and one that is used at once, are much the same.
        algorithm, half = law.split(":")
        if (other := f"{algorithm}:{dict(fit='both', both='fit').get(half)}") in self.own:
            return self.own[other], math.hypot(self.within, HOST, self.between / 2)
        return self.mean, math.hypot(self.between, self.within)


#: No spread is told below these: other hosts, other drivers.
LEAST_WITHIN, LEAST_BETWEEN = 0.22, 0.35
#: How far hosts differ in what they copy a second.
HOST = 0.15


def told(row: Row) -> bool:
    """Whether what a row depends on is known."""
    return (row.estimator, row.phase, row.source) not in UNTOLD


def _answer(row: Row, x: float) -> float:
    """Seconds, where the parts take exp(x) times their sum; what is no part takes what it takes."""
    return row.fixed + math.exp(x) * row.base


GRID = [step / 50 for step in range(-100, 101)]


def _best(rows: list[Row], mean: float, between: float) -> float:
    """The centre that these rows and the law of all make likeliest; one row of a table is no better than its host."""

    def cost(x: float) -> float:
        off = statistics.mean(math.log(row.gpu_s / _answer(row, x)) ** 2 for row in rows)
        return off / (LEAST_WITHIN**2 / len(rows) + HOST**2) + ((x - mean) / between) ** 2

    return min(GRID, key=cost)


def fit(rows: list[Row]) -> Law:
    """The law of these rows: each of their estimators counts once in what belongs to all."""
    of_law: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if told(row):
            of_law[row.law].append(row)
    free = {law: _best(of, 0.0, 2.0) for law, of in of_law.items()}
    mean = statistics.median(free.values())
    between = max(1.25 * statistics.mean(abs(x - mean) for x in free.values()), LEAST_BETWEEN)
    own = {law: _best(of, mean, between) for law, of in of_law.items()}
    off = [abs(math.log(row.gpu_s / _answer(row, own[row.law]))) for of in of_law.values() for row in of]
    return Law(mean, own, between, max(1.25 * statistics.mean(off), LEAST_WITHIN))


def predicted(row: Row, law: Law) -> tuple[float, float, float]:
    """p10, p50, p90 of a row under a law."""
    centre, spread = law.of(row.law)
    p50 = _answer(row, centre)
    return p50 * math.exp(-Z90 * spread), p50, p50 * math.exp(Z90 * spread)


def left_out(rows: list[Row], key: Any) -> list[dict[str, Any]]:
    """Each row by a law that has seen none of its group."""
    found = []
    for group in sorted({key(row) for row in rows}):
        law = fit([row for row in rows if key(row) != group])
        for row in rows:
            if key(row) == group:
                found.append(_scored(row, predicted(row, law), str(group)))
    return found


def _scored(row: Row, said: tuple[float, float, float], group: str) -> dict[str, Any]:
    p10, p50, p90 = said
    sign = None
    if row.cpu_s is not None and abs(math.log(row.cpu_s / row.gpu_s)) > math.log(1.1):
        sign = (row.cpu_s > p50) == (row.cpu_s > row.gpu_s)
    return {
        "left_out": group, "estimator": row.estimator, "phase": row.phase, "rows": row.facts["n"], "columns": row.facts["d"],
        "gpu": row.gpu, "source": row.source, "measured_s": row.gpu_s, "cpu_s": row.cpu_s,
        "p10_s": round(p10, 6), "p50_s": round(p50, 6), "p90_s": round(p90, 6), "told": told(row), "verdict_right": sign,
    }  # fmt: skip


def summary(scored: list[dict[str, Any]]) -> dict[str, Any]:
    """Shares of rows within 2 ×, with the right verdict, within their interval."""
    known = [row for row in scored if row["told"]]
    signs = [row["verdict_right"] for row in known if row["verdict_right"] is not None]
    share = lambda of: round(sum(of) / len(of), 3)  # noqa: E731
    ratio = [row["p50_s"] / row["measured_s"] for row in known]
    return {
        "rows": len(known),
        "within_2x": share([0.5 <= r <= 2 for r in ratio]),
        "median_error": round(statistics.median(abs(r - 1) for r in ratio), 3),
        "verdict_right": share(signs),
        "within_interval": share([row["p10_s"] <= row["measured_s"] <= row["p90_s"] for row in known]),
        "median_width": round(statistics.median(row["p90_s"] / row["p10_s"] for row in known), 2),
    }


def table(law: Law, algorithms: list[str]) -> str:
    """`cuml_factors.csv`."""
    lines = [
        "# How many times the sum of its parts a call takes: algorithm,phase,p10,p90,rows. Written by accuracy/estimators.py; the",
        "# law is explained there. rows: how many published timings of it there are; without any, the spread is that of all.",
        "algorithm,phase,p10,p90,rows",
    ]
    counts: dict[str, int] = defaultdict(int)
    for row in ROWS:
        counts[row.law] += told(row)
    for algorithm in algorithms:
        for half in ("fit", "both", "use"):
            key = f"{algorithm}:{half}"
            centre, spread = law.of(key)
            p10, p90 = (math.exp(centre + sign * Z90 * spread) for sign in (-1, 1))
            lines.append(f"{algorithm},{half},{p10:.3f},{p90:.3f},{counts[key] if key in law.own else 0}")
    return "\n".join(lines) + "\n"


ROWS: list[Row] = []


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("what", choices=("fit", "score"))
    parser.add_argument("--data", type=Path, required=True)
    asked = parser.parse_args()
    ROWS.extend(read(asked.data))
    for row in ROWS:
        prepare(row)
    if asked.what == "fit":
        rules = (ROOT / "crates/breakeven/callables/learn.csv").read_text()
        algorithms = sorted({line.split("learn:")[1].split(":")[0] for line in rules.splitlines() if ",learn:" in line})
        FACTORS.write_text(table(fit(ROWS), algorithms))
        return
    by = {"estimator": lambda row: row.estimator, "source": lambda row: row.source}
    scored = {name: left_out(ROWS, key) for name, key in by.items()}
    ledger: dict[str, Any] = {name: summary(rows) for name, rows in scored.items()}
    law = fit(ROWS)
    ledger["law"] = {
        "mean": round(math.exp(law.mean), 3),
        "between": round(law.between, 3),
        "within": round(law.within, 3),
    }
    shipped = [_scored(row, row.said, "none") for row in ROWS]
    ledger["shipped"] = summary(shipped)
    ledger["rows"] = {name: rows for name, rows in scored.items()} | {"shipped": shipped}
    LEDGER.write_text(json.dumps(ledger, indent=1) + "\n")
    for name in ("estimator", "source", "shipped"):
        print(name, "left out" if name != "shipped" else "", ledger[name])


if __name__ == "__main__":
    main()
