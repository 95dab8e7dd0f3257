"""What the native hooks see of two dozen small programs, against the AST recorder, which sees every line of theirs.

The two name some calls differently (a composite function against its parts), so calls are compared by source line: a
line is seen in so far as the hooks count at least as many calls there.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import running

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
NOT_COMPUTING = ("view", "host_read", "host_only", "transfer", "synchronise")


def lines(workload: dict[str, Any]) -> tuple[Counter[int], Counter[int]]:
    """Array calls and their time by source line."""
    calls: Counter[int] = Counter()
    time: Counter[int] = Counter()
    for entry in workload["ops"]:
        family = entry["op"] if isinstance(entry["op"], str) else next(iter(entry["op"]))
        if family not in NOT_COMPUTING:
            line = workload["sites"][entry["site"]]["line"]
            calls[line] += entry["count"]
            time[line] += entry.get("cpu_ns", 0)
    return calls, time


def record(program: Path, recorder: str, folder: Path) -> dict[str, Any]:
    """The workload of one program."""
    outcome = running.traced(folder / "run", [str(program)], recorder, folder / recorder)
    assert outcome.code == 0, outcome.err.decode()
    (workload,) = running.workloads(folder / recorder)
    return workload


def test_hooks_see_what_the_rewritten_programs_do(tmp_path: Path, native: None) -> None:
    seen_calls = all_calls = seen_time = all_time = 0.0
    blind = []
    for program in PROGRAMS:
        folder = tmp_path / program.stem
        folder.mkdir()
        hooked, _ = lines(record(program, "native", folder))
        rewritten, time = lines(record(program, "ast", folder))
        for line, calls in rewritten.items():
            share = min(1.0, hooked[line] / calls)
            seen_calls += share * calls
            all_calls += calls
            seen_time += share * time[line]
            all_time += time[line]
            if share < 0.97:
                blind.append(f"{program.name}:{line} {hooked[line]} of {calls}")
    print(f"calls {seen_calls / all_calls:.2%}, time {seen_time / all_time:.2%} of {len(PROGRAMS)} programs", *blind,
        sep="\n")
    assert len(PROGRAMS) >= 20
    assert seen_calls / all_calls >= 0.97, blind
    assert seen_time / all_time >= 0.97, blind


@pytest.mark.parametrize("recorder", ["native", "ast"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_programs_print_the_same(program: Path, recorder: str, tmp_path: Path) -> None:
    plain = running.untraced(tmp_path / "run", [str(program)])
    seen = running.traced(tmp_path / "run", [str(program)], recorder, tmp_path / "record")
    assert seen == plain
