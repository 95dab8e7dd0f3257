"""Questions to the engine and its answer, `breakeven.estimate/1`, as a Python object."""

from __future__ import annotations

import datetime
import html
import json
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .. import _native
from ..process import machine
from . import advice as _advice
from . import reasons as _reasons
from .errors import error
from .options import Inputs, Numbers, keywords, takes

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from typing_extensions import Unpack


class Estimate:
    """The answer for one piece of work on one or more GPUs: prints as a report, shows as a table in a notebook."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self._answer = dict(answer)
        #: How much of the report is shown: `quiet` or `verbose`.
        self._shown: dict[str, bool] = {}

    @property
    def verdict(self) -> str:
        """`gpu`, `cpu`, `either` or `unknown`."""
        return str(self._answer["summary"]["verdict"])

    @property
    def sentence(self) -> str:
        """The answer in one line."""
        return str(self._answer["summary"]["sentence"])

    @property
    def best_gpu(self) -> str | None:
        """Catalogue id of the best value among the GPUs that win, if any."""
        best: str | None = self._answer["summary"]["best_gpu"]
        return best

    @property
    def reasons(self) -> list[_reasons.Reason]:
        """Why it is so on the GPU that the first line speaks of, the main reason first."""
        return [_reasons.reason(row) for row in self._answer["reasons"]]

    @property
    def timers(self) -> list[_reasons.Timer]:
        """What the script's own clocks would show on that GPU."""
        return [_reasons.timer(row) for row in self._answer["timers"]]

    @property
    def robustness(self) -> list[_reasons.Flip]:
        """What would turn the answer round."""
        return [_reasons.flip(row) for row in self._answer["robustness"]]

    @property
    def advice(self) -> list[_advice.Advice]:
        """What would help, the fastest result first: edits for that GPU and remedies on the CPU."""
        return [_advice.advice(row) for row in self._answer["advice"]]

    def to_dict(self) -> dict[str, Any]:
        """The whole answer, as the command's `--format json` prints it."""
        copied: dict[str, Any] = json.loads(json.dumps(self._answer))
        return copied

    def to_pandas(self) -> pandas.DataFrame:
        """One row a GPU, intervals as three columns (`time_s.p10`, …). Needs pandas."""
        try:
            import pandas
        except ImportError as missing:
            raise ImportError("to_pandas() needs pandas: pip install pandas") from missing
        return pandas.json_normalize(self._answer["estimates"])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Speedup a GPU with its interval, on a logarithmic axis. Needs matplotlib."""
        try:
            from matplotlib import pyplot
        except ImportError as missing:
            raise ImportError("plot() needs matplotlib: pip install matplotlib") from missing
        rows = [row for row in self._answer["estimates"] if row["speedup"] is not None]
        rows.sort(key=lambda row: row["speedup"]["p50"])
        if ax is None:
            _, ax = pyplot.subplots(figsize=(7, 1 + 0.25 * len(rows)))
        middle = [row["speedup"]["p50"] for row in rows]
        below = [row["speedup"]["p50"] - row["speedup"]["p10"] for row in rows]
        above = [row["speedup"]["p90"] - row["speedup"]["p50"] for row in rows]
        ax.errorbar(middle, range(len(rows)), xerr=[below, above], fmt="o", capsize=3)
        ax.set_yticks(range(len(rows)), [row["name"] for row in rows])
        ax.axvline(1.0, color="grey", linestyle="--")
        ax.set_xscale("log")
        ax.set_xlabel("speedup over the CPU, p10 to p90")
        ax.set_title(self.sentence, fontsize="small", wrap=True)
        return ax

    def __str__(self) -> str:
        return _native.report(json.dumps(self._answer), "text", **self._shown).rstrip("\n")

    def __repr__(self) -> str:
        return f"<breakeven.Estimate: {self.sentence}>"

    def _repr_markdown_(self) -> str:
        return _native.report(json.dumps(self._answer), "markdown")

    def _repr_html_(self) -> str:
        return f'<pre style="line-height: 1.25">{html.escape(str(self))}</pre>'

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


@takes(Inputs)
def estimate(gpu: str | Iterable[str] | None = None, **inputs: Unpack[Inputs]) -> Estimate:
    """Estimate from a few numbers, as `breakeven estimate` does: time, speedup, cost and energy on each GPU.

    `gpu` is a name or several; None is every GPU of the catalogue. A quantity is a number in the base unit (FLOP,
    bytes, seconds, FLOP/s, B/s, W, $/h, a share from 0 to 1) or text with a unit: `"10 TFLOP"`, `"80GiB"`, `"40%"`.

    Raises `InputError` for what does not read or is out of range, `UnknownNameError` for a name that the catalogue does
    not have, `UnknownKeywordError` for a keyword that is none.

    >>> import breakeven
    >>> answer = breakeven.estimate("RTX 3080", flops="10 TFLOP", cpu_rate="400 GFLOP/s")
    >>> answer.verdict
    'gpu'
    >>> breakeven.estimate(gpuu="l4")
    Traceback (most recent call last):
    breakeven.api.errors.UnknownKeywordError: estimate() takes no `gpuu`; did you mean `gpu`?
    """
    numbers = {name: value for name, value in inputs.items() if name in keywords(Numbers) and value is not None}
    options = {name: value for name, value in inputs.items() if name not in keywords(Numbers)}
    return ask({"numbers": numbers, "machine": machine.to_compare_with()}, gpu, options)


def _number(value: Any) -> float:
    """A number of NumPy's as one of Python's."""
    try:
        number: float = value.item()
    except (AttributeError, ValueError):
        raise TypeError(f"{value!r} is no number and no text") from None
    return number


def ask(work: Mapping[str, Any], gpu: str | Iterable[str] | None, options: Mapping[str, Any]) -> Estimate:
    """Put a request to the engine."""
    chosen = [] if gpu is None else [gpu] if isinstance(gpu, str) else list(gpu)
    said = {name: value for name, value in options.items() if value is not None}
    request = {"today": datetime.date.today().isoformat(), **work, "options": {"gpu": chosen, **said}}
    for name, value in (*work.get("numbers", {}).items(), *said.items()):
        if isinstance(value, float) and not math.isfinite(value):
            hint = "give a finite number or text with a unit"
            raise error("bad-number", f"`{name}` is {value}: not a finite number", hint, name)
    try:
        text = json.dumps(request, allow_nan=False, default=_number)
    except (TypeError, ValueError) as bad:
        raise error(
            "bad-number", f"an input does not read: {bad}", "give finite numbers or text with a unit", None
        ) from None
    answer = json.loads(_native.answer(text))
    if "error" in answer:
        raise error(**answer["error"])
    return Estimate(answer)
