"""How many kernels the engine makes of compiled functions, against what XLA's own compiler for GPUs makes of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import recorded  # noqa: F401  # skips where there is no JAX

from breakeven import _native

jax = pytest.importorskip("jax.numpy") and __import__("jax")
graph = pytest.importorskip("breakeven.jax.graph")
programs = __import__("programs")

#: Kernels by name.
KNOWN = {
    row[0]: int(row[1])
    for row in csv.reader(Path(__file__).with_name("kernels.csv").read_text().splitlines())
    if not row[0].startswith("#")
}
#: Functions of which another number is made, and why.
OTHERWISE = {
    "n_body": "XLA turns the places around once for all who read them so",
    "gaussian_process": "XLA lets cuSOLVER take the kernel matrix as it lies",
    "momentum": "XLA folds twenty elements of each row twice rather than keep them",
    "nearest": "XLA calls its own kernel for the largest few of long rows",
}


@pytest.mark.parametrize("name", KNOWN)
def test_as_many_kernels_as_xla_makes(name: str, request: pytest.FixtureRequest) -> None:
    if name in OTHERWISE:
        request.applymarker(pytest.mark.xfail(strict=True, reason=OTHERWISE[name]))
    function, arguments = programs.PROGRAMS[name]
    answer = json.loads(_native.compiled(json.dumps(graph.graph_of(jax.make_jaxpr(function)(*arguments), {}))))
    assert answer["unknown"] == []
    assert answer["kernels"] == pytest.approx(KNOWN[name], rel=0.2)


def test_every_function_was_compiled_by_xla() -> None:
    assert set(KNOWN) == set(programs.PROGRAMS)
