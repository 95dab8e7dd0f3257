"""The public API: estimates from numbers, errors, what a notebook shows."""

from __future__ import annotations

import html
import importlib.util
import inspect
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import breakeven
from breakeven.api.estimate import ask
from breakeven.api.options import Numbers, ProgramOptions, keywords

WORKED = {
    "flops": "10,000 GFLOPS",
    "data": "1GB",
    "cpu_rate": "400GFLOP/s",
    "peak": "12.5TFLOP/s",
    "utilization": "100%",
    "python_overhead": 0,
    "link": "32GB/s",
    "data_out": 0,
    "init": "468.75ms",
}


def worked(**changes: Any) -> breakeven.Estimate:
    return breakeven.estimate("RTX 3080", **(WORKED | changes))


def test_the_worked_example() -> None:
    answer = worked()
    (row,) = answer.to_dict()["estimates"]
    assert row["time_s"]["p50"] == pytest.approx(1.3, rel=1e-9)
    assert row["speedup"]["p50"] == pytest.approx(25 / 1.3, rel=1e-9)
    assert answer.verdict == "gpu"
    assert str(answer).startswith("19× faster on ")
    assert repr(answer) == f"<breakeven.Estimate: {answer.sentence}>"


@pytest.mark.parametrize("gflop, cpu_s, gpu_s", [(100, 0.25, 0.508), (1_000, 2.5, 0.58), (100_000, 250, 8.5)])
def test_figures_that_must_come_out(gflop: float, cpu_s: float, gpu_s: float) -> None:
    answer = worked(flops=gflop * 1e9, data=0, init=0.5).to_dict()
    assert answer["baseline"]["time_s"]["p50"] == pytest.approx(cpu_s)
    assert answer["estimates"][0]["time_s"]["p50"] == pytest.approx(gpu_s)


def test_everything_in_a_request_can_be_given() -> None:
    schema = json.loads((Path(__file__).parents[2] / "docs/schema/request-1.schema.json").read_text())
    assert keywords(Numbers).keys() == schema["$defs"]["numbers"]["properties"].keys()
    # Several GPUs for one run are the command's alone so far.
    assert {"gpu", "several", *keywords(ProgramOptions)} == schema["$defs"]["options"]["properties"].keys()
    flop = breakeven.estimate("l4", matmul=2000, cpu_time="1 s").to_dict()["workload"]["flop"]
    assert flop == 16e9


def test_numbers_of_numpy_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    n = numpy.int64(2000)
    assert breakeven.estimate("l4", flops=2 * n**3, cpu_rate=numpy.float32(1e9)).to_dict()["workload"]["flop"] == 16e9
    with pytest.raises(breakeven.InputError, match="array.* is no number"):
        breakeven.estimate("l4", flops=numpy.ones(2))


def test_what_a_notebook_shows() -> None:
    answer = worked()
    page = answer._repr_html_()
    assert html.unescape(page) == f'<pre style="line-height: 1.25">{answer}</pre>'
    assert len(breakeven.estimate(matmul=8000)._repr_html_().splitlines()) <= 24
    assert "RTX 3080" in answer._repr_markdown_()


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_no_number_is_told_by_its_name(value: float) -> None:
    with pytest.raises(breakeven.InputError, match=f"`matmul` is {value}: not a finite number"):
        breakeven.estimate("l4", matmul=value)


def test_reasons_clocks_and_what_would_turn_it() -> None:
    path = Path(__file__).parents[2] / "crates/breakeven/tests/workloads/timed.breakeven.json"
    answer = ask({"workload": json.loads(path.read_text())}, "t4", {})
    early = next(reason for reason in answer.reasons if reason.code == "timing-without-wait")
    assert (early.site, early.also, early.share) == ("timed.py:7", ("timed.py:9",), None)
    assert early.docs == "docs/reasons.md#timing-without-wait"
    assert early.evidence[0].name == "shown" and early.evidence[0].unit == "s"
    assert str(answer.reasons[0]).startswith("start-up-bound (")
    first = answer.timers[0]
    assert (first.start, first.end, first.times) == ("timed.py:7", "timed.py:9", 1)
    assert first.first_call_s == pytest.approx(0.075)
    assert first.gpu_s is not None and first.work_s is not None and first.gpu_s.p50 < first.work_s
    error = next(flip for flip in answer.robustness if flip.what == "error")
    assert error.now == 1.0 and error.turns_at is not None
    assert worked().reasons == worked().timers == worked().robustness == []


def test_a_catalogue_of_ones_own() -> None:
    text = (Path(__file__).parents[2] / "examples" / "catalogue.csv").read_text()
    options: dict[str, Any] = {"cpu": "our-host", "gpu": "our-next", "provider": "our cluster",
        "region": "our basement"}
    answer = breakeven.estimate(flops="1 PFLOP", catalogue=text, **options).to_dict()
    assert answer["baseline"]["price"]["instance"] == "rack3.cpu"
    assert answer["estimates"][0]["gpu"] == "our-next"
    with pytest.raises(breakeven.InputError, match="line 28: usd_per_hour is `-1`") as caught:
        breakeven.estimate(flops="1 PFLOP", catalogue=text.replace("0.60", "-1"), **options)
    assert caught.value.field == "catalogue"


def test_to_dict_is_a_copy() -> None:
    answer = worked()
    answer.to_dict()["summary"]["verdict"] = "changed"
    assert answer.verdict == "gpu"


@pytest.mark.parametrize(
    "inputs, kind, code, field",
    [
        ({"flops": "12abc"}, breakeven.InputError, "bad-unit", "flops"),
        ({"flops": -1}, breakeven.InputError, "out-of-range", "flops"),
        ({"flops": float("nan")}, breakeven.InputError, "bad-number", "flops"),
        ({"gpu": "no such card", "flops": 1e12}, breakeven.UnknownNameError, "unknown-gpu", "gpu"),
        ({"flops": 1e12, "precision": "fp12"}, breakeven.UnknownNameError, "unknown-precision", "precision"),
        ({"flops": 1e12, "policy": "naive"}, breakeven.InputError, "not-a-program", "policy"),
        ({"flops": 1e12, "no_such_option": 1}, breakeven.InputError, "bad-request", None),
    ],
)
def test_errors_are_raised_with_their_code(inputs: Any, kind: type[Exception], code: str, field: str | None) -> None:
    with pytest.raises(kind) as raised:
        breakeven.estimate(**inputs)
    assert isinstance(raised.value, (breakeven.BreakevenError, ValueError))
    assert (raised.value.code, raised.value.field) == (code, field)  # type: ignore[attr-defined]


def test_a_wrong_keyword_is_answered_with_the_nearest() -> None:
    for wrong, nearest in [("gpuu", "gpu"), ("flop", "flops"), ("exclude_start_up", "exclude_startup")]:
        with pytest.raises(TypeError) as raised:
            breakeven.estimate(**{wrong: 1})
        assert str(raised.value) == f"estimate() takes no `{wrong}`; did you mean `{nearest}`?"
    with pytest.raises(breakeven.UnknownKeywordError, match=r"Recording.estimate\(\) takes no `flops`"):
        breakeven.record().estimate("l4", flops=1)  # type: ignore[call-arg]


def test_keywords_are_in_the_signature_and_the_docstring() -> None:
    for function, kinds in [(breakeven.estimate, Numbers), (breakeven.Recording.estimate, ProgramOptions)]:
        parameters = inspect.signature(function).parameters
        for name, (kind, meaning) in keywords(kinds).items():
            assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
            assert parameters[name].annotation == kind and f"    {name}: {meaning}\n" in str(function.__doc__)


def test_import_loads_nothing_that_was_not_asked_for() -> None:
    source = "import sys; before = set(sys.modules); import breakeven; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    loaded = {name for name in eval(done.stdout) if name != "__future__"}
    assert loaded == {"breakeven"}


def test_the_command_is_the_native_binary() -> None:
    done = subprocess.run([sys.executable, "-m", "breakeven", "--version"], capture_output=True, text=True)
    assert done.stdout.strip() == f"breakeven {breakeven.__version__}", done.stderr
    import shutil
    import sysconfig
    from pathlib import Path

    command = shutil.which("breakeven", path=sysconfig.get_path("scripts"))
    assert command is not None and Path(command).read_bytes()[:4] == b"\x7fELF"


@pytest.mark.skipif(importlib.util.find_spec("pandas") is None, reason="pandas is not installed")
def test_to_pandas() -> None:
    table = worked().to_pandas()
    assert table.loc[0, "time_s.p50"] == pytest.approx(1.3)


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed")
def test_plot() -> None:
    import matplotlib

    matplotlib.use("Agg")
    assert worked().plot().get_xscale() == "log"
