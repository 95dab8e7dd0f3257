"""Scripts of pandas': they do what they do unrecorded, and each call is one op at its line."""

from __future__ import annotations

import inspect
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest
from breakeven import _native
from frames_running import Run, line_of, once

pandas = pytest.importorskip("pandas")
SCRIPTS = Path(__file__).parent / "scripts"

#: Script → (text of a line, name of an op there).
SEEN = {
    "etl": [
        ("read_csv(", "pandas.read_csv"),
        ("read.merge", "pandas.DataFrame.merge"),
        ("large = joined[", "pandas.DataFrame.__getitem__"),
        ('agg(["sum"', "pandas.SeriesGroupBy.agg"),
        ("rolling(7)", "pandas.Rolling.mean"),
        ("nlargest(5", "pandas.DataFrame.nlargest"),
    ],
    "rows": [
        ("frame.apply(", "pandas.DataFrame.apply(function)"),
        (".map(lambda", "pandas.Series.map(function)"),
        ('row["a"] - row', "pandas.Series.__getitem__"),
        ("agg(np.sum)", "pandas.Series.agg"),
    ],
    "shapes": [
        ('aggfunc="mean"', "pandas.DataFrame.pivot_table"),
        ("margins=True", "pandas.DataFrame.pivot_table(margins)"),
        (".melt(", "pandas.DataFrame.melt"),
        (".rank()", "pandas.Series.rank"),
        ("get_dummies", "pandas.get_dummies"),
        (".corr()", "pandas.DataFrame.corr"),
    ],
    "text": [
        ("names.str.upper", "pandas.Series.str.upper"),
        ("expand=True", "pandas.Series.str.split"),
        ("str.contains", "pandas.Series.str.contains"),
        (".dt.year", "pandas.Series.dt.year"),
        ("to_datetime", "pandas.to_datetime"),
    ],
    "times": [
        ("resample(", "pandas.Resampler.mean"),
        ("expanding()", "pandas.Expanding.mean"),
        ("ewm(", "pandas.ExponentialMovingWindow.mean"),
        ("30min", "pandas.Rolling.sum"),
    ],
    "rest": [
        ("whole = pd.concat", "pandas.concat"),
        ("drop_duplicates(", "pandas.DataFrame.drop_duplicates"),
        ("chunksize", "pandas.read_csv(chunksize)"),
        ("whole.query", "pandas.DataFrame.query"),
    ],
    "benchmark": [('agg({"v3": ["median"', "pandas.DataFrameGroupBy.agg"), ("x.merge(big", "pandas.DataFrame.merge")],
    "threads": [
        ("read = pd.read_csv", "pandas.read_csv"),
        ("str[1]", "pandas.Series.str.__getitem__"),
        ("resample(", "pandas.DataFrame.resample"),
    ],
    "small": [('groupby("b")', "pandas.SeriesGroupBy.sum"), ("part = base", "pandas.DataFrame.__getitem__")],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Run]:
    return once(SCRIPTS, tmp_path_factory)


@pytest.mark.parametrize("name", SEEN)
def test_a_recorded_script_does_what_it_does(name: str, run: Callable[[str], Run]) -> None:
    assert run(name).seen == run(name).plain
    assert run(name).plain[0] == 0


@pytest.mark.parametrize("name", SEEN)
def test_each_call_is_an_op_at_its_line(name: str, run: Callable[[str], Run]) -> None:
    seen = run(name).by_line()
    for text, op in SEEN[name]:
        if op:
            line = line_of(SCRIPTS / f"{name}.py", text)
            assert op in seen[line], (line, seen[line])


@pytest.mark.parametrize("name", SEEN)
def test_nearly_all_time_in_calls_is_understood(name: str, run: Callable[[str], Run]) -> None:
    assert run(name).understood() >= 0.95
    assert not [row for row in run(name).workload.get("unseen", []) if row["reason"] == "hook-failed"]


def test_a_group_by_has_its_rows_and_groups(run: Callable[[str], Run]) -> None:
    ops = [entry["op"] for entry in run("benchmark").workload["ops"] if entry["name"] == "pandas.DataFrameGroupBy.agg"]
    frames = [op["dataframe"] for op in ops]
    assert all(frame["kind"] == "group_by" and frame["rows"] == 100_000 for frame in frames)
    assert {100, 10_000} <= {frame["out_rows"] for frame in frames}
    assert 6 in {frame.get("keys", 1) for frame in frames}


def test_what_threads_do_for_a_call_is_that_call_s(run: Callable[[str], Run]) -> None:
    workload = run("threads").workload
    line = line_of(SCRIPTS / "threads.py", "read = pd.read_csv")
    names = {entry["name"] for entry in workload["ops"] if workload["sites"][entry["site"]]["line"] == line}
    assert names == {"pandas.read_csv"}
    reads = [entry for entry in workload["ops"] if entry["name"] == "pandas.Series.values"]
    assert all(entry["op"] == "view" for entry in reads)


def test_rows_out_of_order_are_sorted_before_they_are_resampled(run: Callable[[str], Run]) -> None:
    ops = [entry["op"] for entry in run("threads").workload["ops"] if entry["name"] == "pandas.DataFrame.resample"]
    assert [op["dataframe"]["kind"] for op in ops] == ["sort"]
    assert ops[0]["dataframe"]["rows"] == ops[0]["dataframe"]["out_rows"] == 200_000


def test_a_loop_over_small_frames_is_told_to_vectorise(run: Callable[[str], Run]) -> None:
    reasons = run("small").answer()["reasons"]
    cause = next(reason["cause"] for reason in reasons if reason["code"] == "launch-bound" and reason["site"] is None)
    assert "pandas calls of" in cause and "no GPU helps" in cause


def test_the_report_says_how_to_run_it_on_a_gpu(run: Callable[[str], Run]) -> None:
    notes = {note["code"]: note["text"] for note in run("etl").answer()["notes"]}
    assert "python -m cudf.pandas etl.py" in notes["cudf-pandas"]
    assert ("below 3.1" in notes["cudf-pandas"]) == (tuple(map(int, pandas.__version__.split(".")[:2])) >= (3, 1))


def test_a_million_calls_are_a_small_file(tmp_path: Path) -> None:
    script = tmp_path / "many.py"
    script.write_text(
        "import pandas as pd\n"
        "frames = [pd.DataFrame({'a': range(n)}) for n in range(1, 400)]\n"
        "for i in range(50_000):\n    frames[i % 399]['a']\n    frames[i % 399].head(i % 9)\n"
        "for frame in frames:\n    frame['a'].sum()\n"
    )
    run = Run(script, tmp_path)
    assert sum(entry["count"] for entry in run.workload["ops"]) >= 100_000
    assert len(run.workload["ops"]) < 400


def test_every_public_name_is_listed() -> None:
    listed = {name for name, _, _ in _native.callables("pandas")}
    missing = [
        f"pandas.{name}"
        for name in dir(pandas)
        if isinstance(getattr(pandas, name), types.FunctionType) and not name.startswith("_")
        if f"pandas.{name}" not in listed
    ]
    frame = pandas.DataFrame({"a": [1], "s": ["x"]}, index=pandas.to_datetime(["2020-01-01"]))
    owners = {
        "DataFrame": pandas.DataFrame,
        "Series": pandas.Series,
        "Index": pandas.Index,
        "DataFrameGroupBy": type(frame.groupby("a")),
        "SeriesGroupBy": type(frame.groupby("a")["s"]),
        "Rolling": type(frame.rolling(1)),
        "Expanding": type(frame.expanding()),
        "ExponentialMovingWindow": type(frame.ewm(1)),
        "Resampler": type(frame.resample("D")),
        "Series.str": type(frame["s"].str),
        "Series.dt": type(frame.index.to_series().dt),
        "Series.cat": type(frame["s"].astype("category").cat),
    }
    for owner, cls in owners.items():
        missing += [
            f"pandas.{owner}.{name}"
            for name in dir(cls)
            if not name.startswith("_")
            if f"pandas.{owner}.{name}" not in listed
        ]
    assert tuple(map(int, pandas.__version__.split(".")[:2])) > (3, 1) or not missing


def test_a_hook_looks_like_the_function(tmp_path: Path) -> None:
    told = (
        "import pandas as pd, inspect\n"
        "print(inspect.signature(pd.DataFrame.merge), pd.DataFrame.merge.__doc__[:9], repr(pd.concat)[:17])"
    )
    script = tmp_path / "looks.py"
    script.write_text(told)
    run = Run(script, tmp_path)
    assert run.seen == run.plain
    assert "self" in str(inspect.signature(pandas.DataFrame.merge))


def test_without_pandas_nothing_is_imported() -> None:
    code = "import breakeven, sys; print('pandas' in sys.modules, 'polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False False\n"
