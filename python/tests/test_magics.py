"""`%%breakeven` and `%breakeven`: their options, and one line and a hint for each wrong one."""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
from typing import Any

import pytest

import breakeven

pytest.importorskip("IPython")
from breakeven.api.ipython import _NOT_SHOWN, _OPTIONS, parsed, usage

pytestmark = pytest.mark.usefixtures("native")


@pytest.fixture(scope="module")
def shell() -> Any:
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_cell("%load_ext breakeven\nimport numpy as np\nshown = []")
    shell.display_formatter.active_types = ["text/html"]
    return shell


@pytest.fixture(autouse=True)
def shown(monkeypatch: pytest.MonkeyPatch) -> list[breakeven.Estimate]:
    """What the magics display."""
    displayed: list[breakeven.Estimate] = []
    monkeypatch.setattr("breakeven.api.ipython.display", displayed.append)
    return displayed


def test_options_of_a_cell(shell: Any, shown: list[breakeven.Estimate]) -> None:
    line = "%%breakeven l4 --gpu t4,a10 --exclude-startup --top=2 --precision fp32"
    assert shell.run_cell(f"{line}\nb = np.ones((99, 99)) @ np.ones((99, 99))").success
    [answer] = shown
    asked = answer.to_dict()["options"]
    assert asked["gpu"] == ["l4", "t4", "a10"] and asked["exclude_startup"] and asked["precision"] == "fp32"
    assert "… 1 more: --top 3" in answer._repr_html_()
    assert "… 1 more: --top 3" in str(answer)
    assert shell.user_ns["b"].shape == (99, 99)


def test_a_cell_shows_the_text_report_or_what_is_asked_of_it(shell: Any, shown: list[breakeven.Estimate]) -> None:
    for option in ("", "--quiet", "--verbose"):
        shell.run_cell(f"%%breakeven l4 {option}\nb = np.ones((99, 99)) @ np.ones((99, 99))")
    brief, quiet, verbose = (shell.display_formatter.formatters["text/plain"](answer) for answer in shown)
    assert brief == str(shown[0]) and "more: --verbose" in brief and len(brief.splitlines()) <= 24
    assert len(quiet.splitlines()) < len(brief.splitlines()) and "more: --verbose" not in quiet + verbose
    assert "what would turn it" in verbose or len(verbose.splitlines()) > 24


def test_a_cell_is_reported_on_again(shell: Any, shown: list[breakeven.Estimate]) -> None:
    shell.run_cell("%%breakeven l4\nb = np.ones((99, 99)) @ np.ones((99, 99))")
    shell.run_cell("%breakeven h100-sxm --spot")
    assert [answer.to_dict()["options"]["gpu"] for answer in shown] == [["l4"], ["h100-sxm"]]
    assert len({answer.to_dict()["workload"]["flop"] for answer in shown}) == 1


def test_a_block_that_ended_well_says_nothing_of_its_end(shell: Any, shown: list[breakeven.Estimate]) -> None:
    shell.run_cell("%%breakeven l4\nb = np.ones((99, 99)) @ np.ones((99, 99))")
    assert "how it ended" not in str(shown[0])


@pytest.mark.parametrize("line", ["%breakeven --help", "%%breakeven -h\nran = True"])
def test_help_names_every_option_and_runs_nothing(line: str, shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.run_cell(line).success
    assert capsys.readouterr().out == usage()
    assert "ran" not in shell.user_ns and "Example:\n  %%breakeven l4" in usage()
    assert all(f"  --{name.replace('_', '-')}" in usage() for name in _OPTIONS)


def test_the_command_has_the_same_options() -> None:
    command = shutil.which("breakeven", path=sysconfig.get_path("scripts"))
    assert command is not None
    told = subprocess.run([command, "show", "--help"], capture_output=True, text=True, check=True).stdout
    of_show = set(re.findall(r"^ +(?:-\w, )?--([\w-]+)", told, re.MULTILINE))
    files = {"output", "format", "color", "explain", "quiet", "verbose", "trace", "html",
        "scale"}  # of a terminal, and of files
    ours = {name.replace("_", "-") for name in {*_OPTIONS, *_NOT_SHOWN, "gpu"}}
    several = {"gpus", "parallel", "network", "per-node", "scaling"}  # the command's alone so far
    assert of_show - files - several - {"help", "no-config"} == ours


def test_values_that_look_like_others() -> None:
    asked = parsed("'RTX 4090' --price -1 --size=2 --gpu 'h100, a100'")
    assert asked is not None
    assert asked.gpus == ["RTX 4090", "h100", "a100"] and asked.options == {"price": "-1", "size": "2"}


#: The line of a cell, what the error says, what follows.
WRONG = [
    ("--gpuu l4", "there is no option `--gpuu`; did you mean `--gpu`?", "--help"),
    ("--exclude-start", "did you mean `--exclude-startup`?", "--help"),
    ("--exclude_startup", "there is no option `--exclude_startup`; did you mean `--exclude-startup`?", "--help"),
    ("-z", "there is no option `-z`", "--help"),
    ("--fail-if 'speedup<2'", "there is no option `--fail-if`", "--help"),
    ("--spot=yes", "`--spot` takes no value", "write `--spot` alone"),
    ("--region", "`--region` needs a value", "country or cloud region"),
    ("--region --spot", "`--region` needs a value", "country or cloud region"),
    ("--top many", "`--top` is `many`: not a whole number", "--top 3"),
    ("--catalogue nowhere.csv", "cannot read nowhere.csv: no such file or directory", "check the path"),
    ("rtx 4090", "`rtx 4090` is two names here", '"rtx 4090"'),
    ('"RTX 4090', "a quotation mark has no counterpart", '"RTX 4090"'),
    ("'RTX 3081'", "no GPU of the catalogue is called `RTX 3081`", "nearest in kind"),
    ("--price cheap", "`cheap`", "write it like"),
    ("--precision fp12", "cannot be estimated in `fp12`", "bf16"),
    ("--region atlantis", "no country or cloud region is called `atlantis`", "Germany"),
    ("--size 0", "a problem 0× its size is too far", "from 0.001 to 1000"),
]


@pytest.mark.parametrize(("line", "error", "hint"), WRONG)
def test_wrong_input_is_told_in_one_line_and_a_hint(
    line: str, error: str, hint: str, shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    result = shell.run_cell(f"%%breakeven {line}\nran = True")
    assert not result.success and "ran" not in shell.user_ns
    told = capsys.readouterr()
    lines = (told.out + told.err).splitlines()
    assert len(lines) == 2, lines
    assert lines[0].startswith("UsageError: ") and error in lines[0]
    assert lines[1].startswith(" hint: ") and hint in lines[1]


def test_nothing_recorded_yet(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shell.user_ns.pop("_breakeven", None)
    shell.run_cell("%breakeven l4")
    assert capsys.readouterr().err == "UsageError: no cell has been recorded yet\n hint: begin one with `%%breakeven`\n"
