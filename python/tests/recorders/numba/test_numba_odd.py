"""What Numba compiles that is hard to read, or fails: the script is as without us; what was not understood is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from numba_running import calls, recorded

pytest.importorskip("numba")
pytestmark = pytest.mark.usefixtures("native")

#: By script: why calls stay on the host, by id; how many calls are not understood; what is said of that.
ODD = {
    "cached.py": ({"sequential"}, 0, []),
    "classes.py": ({"scalar"}, 1, ["what fill, compiled by Numba", "it sets an attribute"]),
    "closures.py": (set(), 0, []),
    "failing.py": ({"scalar"}, 0, []),
    "no_gpu.py": (set(), 0, ["the script asks Numba's CUDA for a GPU (no_gpu.py:13)"]),
    "object_mode.py": ({"object-mode"}, 1, ["it goes back to Python in a `with`"]),
    "options.py": ({"sequential"}, 0, []),
    "recursion.py": (set(), 2, ["what depth, compiled by Numba", "what fib, compiled by Numba", "it calls itself"]),
    "shared_memory.py": (set(), 1, ["two arrays that it is given lie in each other's memory"]),
    "sourceless.py": (set(), 2, ["what <lambda>, compiled by Numba", "its source is not there"]),
}


@pytest.mark.parametrize("name", sorted(ODD))
def test_odd_functions_change_nothing_and_are_told_as_they_are(name: str, tmp_path: Path) -> None:
    ids, dark, said = ODD[name]
    workload = recorded(f"odd/{name}", tmp_path)
    seen = calls(workload)
    assert {op["name"].split("(")[1].strip(")") for op in seen if "(" in op["name"]} == ids, seen
    assert len([op for op in seen if op["op"] == "opaque"]) == dark, seen
    texts = "\n".join(unseen["text"] for unseen in workload.get("unseen", []))
    assert all(text in texts for text in said), texts
    assert "breakeven failed" not in texts and "is not recorded as it should be" not in texts, texts


def test_many_shapes_are_told_by_their_order_of_magnitude(tmp_path: Path) -> None:
    workload = recorded("odd/shapes.py", tmp_path)
    seen = [op for op in calls(workload) if op["line"] == 20]
    assert sum(op["count"] for op in seen) == 600
    assert len({json.dumps(op["op"]) for op in seen}) < 300
