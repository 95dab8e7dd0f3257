"""The magics of a notebook: `%%breakeven` records a cell and reports, `%breakeven` reports on that again."""

from __future__ import annotations

import shlex
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display

from .errors import BreakevenError, InputError
from .estimate import Estimate, ask
from .options import ProgramOptions, keywords, unknown
from .record import Recording, record

#: The recording of the last cell, in the notebook.
_NAME = "_breakeven"
#: What the engine takes and a notebook does not show.
_NOT_SHOWN = ("fail_if", "timeline")
#: Options whose value is a file with the text.
_FILES = ("catalogue", "machine")
_OPTIONS = {name: keyword for name, keyword in keywords(ProgramOptions).items() if name not in _NOT_SHOWN}
#: A program that does nothing: options are checked with it before a cell takes its time.
_EMPTY = {"format": "breakeven.workload/1", "program": {"name": "cell", "wall_ns": 0}}

_HELP = """\
%%breakeven [GPU …] [OPTION …]   record this cell, then report what it would take on GPUs
%breakeven [GPU …] [OPTION …]    report on the cell recorded last again: other GPUs, other prices

Without a GPU: on every GPU of the catalogue. The recording stays in the notebook as `_breakeven`.

Example:
  %%breakeven l4 "RTX 4090" --exclude-startup --runs-per-month 3000
  x = np.fft.fft(signal)

Options:
  --gpu NAME              a GPU by any name, several apart by commas
  --quiet                 only the verdict and what decides it
  --verbose               the whole report
"""


@magics_class
class BreakevenMagics(Magics):  # type: ignore[misc]
    """Registered by `%load_ext breakeven`."""

    @line_cell_magic  # type: ignore[untyped-decorator]
    def breakeven(self, line: str, cell: str | None = None) -> None:
        """`%%breakeven [GPU …] [OPTION …]` records the cell and reports; `%breakeven …` reports on it again.

        `%breakeven --help` lists the options.
        """
        try:
            asked = parsed(line)
            if asked is None:
                print(usage(), end="")
            elif cell is None:
                display(asked.estimate(self._last()))
            else:
                self._record(cell, asked)
        except BreakevenError as wrong:
            raise UsageError(str(wrong)) from None

    def _record(self, cell: str, asked: Asked) -> None:
        """Run the cell; report if it ends well."""
        asked.check()
        try:
            with record() as work:
                result: Any = self.shell.run_cell(cell)
        except RuntimeError as refused:
            raise UsageError(str(refused)) from None
        self.shell.user_ns[_NAME] = work
        if result.success:
            display(asked.estimate(work))

    def _last(self) -> Recording:
        last = self.shell.user_ns.get(_NAME)
        if isinstance(last, Recording):
            return last
        raise InputError("no cell has been recorded yet", "no-recording", "begin one with `%%breakeven`")


class Asked(NamedTuple):
    """What a line asks for."""

    gpus: list[str]
    options: dict[str, Any]
    #: How much of the report is shown: `quiet` or `verbose`.
    shown: dict[str, bool]

    def estimate(self, work: Recording) -> Estimate:
        """The report on `work`."""
        answer = ask({"workload": work.to_dict()}, self.gpus, self.options)
        answer._shown = self.shown
        return answer

    def check(self) -> None:
        """Raises where any estimate would for these options."""
        try:
            ask({"workload": _EMPTY}, self.gpus, self.options)
        except BreakevenError as error:
            if error.code != "no-size":  # nothing has no size; whether the cell has one is seen when it has run
                raise


def parsed(line: str) -> Asked | None:
    """The line's GPUs and options; None where help is asked for."""
    try:
        words = iter(shlex.split(line))
    except ValueError:
        raise InputError("a quotation mark has no counterpart", "bad-line", 'write it like "RTX 4090"') from None
    gpus: list[str] = []
    options: dict[str, Any] = {}
    shown: dict[str, bool] = {}
    before = ""
    for word in words:
        option, given, value = word.partition("=")
        name = option[2:].replace("-", "_")
        before, last = word, before
        if not word.startswith("-"):
            if word[:1].isdigit() and last.isalpha():
                raise InputError(f"`{last} {word}` is two names here", "bad-line", f'write it like "{last} {word}"')
            gpus += _names(word)
        elif word in ("-q", "--quiet", "-v", "--verbose"):
            shown = {"quiet" if "q" in word else "verbose": True}
        elif word in ("-h", "--help"):
            return None
        elif name != "gpu" and (name not in _OPTIONS or not option.startswith("--") or "_" in option):
            raise _unknown(option)
        elif name in _OPTIONS and _OPTIONS[name].kind is bool:
            if given:
                raise InputError(f"`{option}` takes no value", "bad-option", f"write `{option}` alone")
            options[name] = True
        else:
            value = value if given else next(words, "")
            if not value or value.startswith("--"):
                meaning = "a GPU by any name" if name == "gpu" else _OPTIONS[name].meaning
                raise InputError(f"`{option}` needs a value", "bad-option", meaning)
            if name == "gpu":
                gpus += _names(value)
            else:
                options[name] = _read(option, name, value)
    return Asked(gpus, options, shown)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _read(option: str, name: str, value: str) -> str | int:
    """The value as the engine takes it."""
    if name == "top":
        if not value.isdecimal():
            raise InputError(
                f"`{option}` is `{value}`: not a whole number from 0", "bad-option", f"write it like {option} 3"
            )
        return int(value)
    if name in _FILES:
        try:
            return Path(value).read_text("utf-8")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise InputError(f"cannot read {value}: {reason.lower()}", "file", "check the path") from None
    return value


def _unknown(option: str) -> BreakevenError:
    names = ["gpu", *_OPTIONS, "help"]
    error = unknown(f"there is no option `{option}`", option.strip("-").replace("-", "_"), names, _typed)
    error.hint = "`%breakeven --help` lists the options"
    return error


def _typed(name: str) -> str:
    """A keyword as an option."""
    return "--" + name.replace("_", "-")


def usage() -> str:
    """What `--help` prints."""
    lines = [_HELP]
    for name, (kind, meaning) in _OPTIONS.items():
        option = _typed(name) + ("" if kind is bool else " FILE" if name in _FILES else " VALUE")
        lines += textwrap.wrap(meaning, 100, initial_indent=f"  {option:<24}", subsequent_indent=" " * 26)
    return "\n".join([lines[0].rstrip("\n"), *lines[1:], ""])
