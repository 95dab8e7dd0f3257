"""A recorded script does what it does unrecorded: same output, same exit, same files."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import running

#: Arguments of the interpreter, what is typed, whether in a terminal.
CASES: dict[str, tuple[list[str], bytes, bool]] = {
    path.stem: ([path.name], b"", False)
    for path in sorted(running.SCRIPTS.glob("*.py"))
    if not path.stem.startswith("helper_") and path.stem not in ("pool_spawn", "standard_input", "terminal")
}
CASES |= {
    "pool_spawn": (["pool_spawn.py", "spawn"], b"", False),
    "pool_fork": (["pool_spawn.py", "fork"], b"", False),
    "pool_forkserver": (["pool_spawn.py", "forkserver"], b"", False),
    "standard_input": (["standard_input.py"], b"1 2 3\nnext\nrest", False),
    "arguments_given": (["arguments.py", "--n", "5"], b"", False),
    "arguments_wrong": (["arguments.py", "--m"], b"", False),
    "arguments_help": (["arguments.py", "-h"], b"", False),
    "dotted_path": (["./package_here/../plain.py"], b"", False),
    "not_there": (["not_there.py"], b"", False),
    "directory": (["package_here"], b"", False),
    "module": (["-m", "package_here.tool", "a"], b"", False),
    "module_raises": (["-m", "package_here.tool", "a", "b"], b"", False),
    "module_not_there": (["-m", "package_here.nothing"], b"", False),
    "module_without_main": (["-m", "package_here"], b"", False),
    "module_interrupted": (["-m", "keyboard_interrupt"], b"", False),
    "terminal": (["terminal.py"], b"Ada\n", True),
    "terminal_plain": (["plain.py"], b"", True),
}

#: What the AST recorder cannot hide.
KNOWN = {
    ("ast", "stack_whole"): "the whole stack shows the runner's frames below the script's",
    ("ast", "refcount"): "a watched call holds its arguments once more while it runs",
}
NEEDS = {"scipy_calls": "scipy", "scipy_tables": "scipy"}


@pytest.mark.parametrize("recorder", ["native", "ast"])
@pytest.mark.parametrize("name", CASES)
def test_traced_equals_untraced(name: str, recorder: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    if (recorder, name) in KNOWN:
        request.applymarker(pytest.mark.xfail(strict=True, reason=KNOWN[recorder, name]))
    arguments, typed, tty = CASES[name]
    folder = tmp_path / "run"
    plain = running.untraced(folder, arguments, typed=typed, tty=tty)
    seen = running.traced(folder, arguments, recorder, tmp_path / "record", typed=typed, tty=tty)
    assert seen.out == plain.out
    assert seen.err == plain.err
    assert seen.code == plain.code
    assert seen.files == plain.files
