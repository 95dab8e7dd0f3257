"""Scripts with estimators: what their users see is as without us, and each call is an op at its line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from breakeven import _native
from running import Outcome, traced, workloads

sklearn = pytest.importorskip("sklearn")

HERE = Path(__file__).parent
SCRIPTS = sorted((HERE / "scripts").glob("*.py"))
NEEDS = {"xgboost_native": ["xgboost"], "xgboost_wrapper": ["xgboost"], "other_boosting": ["lightgbm", "catboost"]}
LEAST_COVERAGE = 0.95

pytestmark = pytest.mark.usefixtures("native")


def recorded(script: Path, folder: Path) -> tuple[Outcome, list[dict[str, Any]]]:
    """The script as recorded, and the files that its processes wrote."""
    outcome = traced(folder / "run", [str(script)], "native", folder / "record")
    return outcome, workloads(folder / "record")


@pytest.fixture(scope="module", params=SCRIPTS, ids=lambda path: path.stem)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A script, what Python alone does, and what recording does."""
    script: Path = request.param
    for library in NEEDS.get(script.stem, []):
        pytest.importorskip(library)
    folder = tmp_path_factory.mktemp(script.stem)
    (folder / "run").mkdir()
    plain = subprocess.run([sys.executable, str(script)], cwd=folder / "run", capture_output=True, timeout=240)
    return script, plain, *recorded(script, folder)


def test_a_script_does_not_notice(case: Any) -> None:
    _, plain, outcome, _ = case
    assert (outcome.code, outcome.out) == (plain.returncode, plain.stdout)
    assert outcome.err == plain.stderr


def test_each_call_is_an_op_at_its_line(case: Any) -> None:
    script, _, _, files = case
    found = {}
    for workload in files:
        for op in workload["ops"]:
            site = workload["sites"][op["site"]]
            if Path(site.get("file", "")).name == script.name:
                found.setdefault(site["line"], set()).add(op["name"].removeprefix("sklearn."))
    for number, line in enumerate(script.read_text().splitlines(), 1):
        if asked := re.search(r"# op: (.*)$", line):
            wanted = set(asked[1].split(", "))
            assert wanted <= found.get(number, set()), (number, wanted, found.get(number))


def test_what_was_not_understood_is_little(case: Any) -> None:
    _, _, _, files = case
    for workload in files:
        assert workload["unseen"] == [], workload["unseen"]
        total = sum(op["cpu_ns"] for op in workload["ops"])
        dark = sum(op["cpu_ns"] for op in workload["ops"] if op["op"] == "opaque")
        assert dark <= (1 - LEAST_COVERAGE) * total, [op["name"] for op in workload["ops"] if op["op"] == "opaque"]


def test_the_engine_answers(case: Any) -> None:
    """With a reason for what stays on the CPU where an estimator does."""
    _, _, _, files = case
    options = {"gpu": ["l4"], "exclude_startup": True}
    told = json.loads(_native.answer(json.dumps({"workload": files[0], "options": options})))
    assert told["estimates"][0]["time_s"]["p50"] > 0
    assert told["summary"] and "error" not in told
