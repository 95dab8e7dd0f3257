"""Scripts as tutorials have them: what the user sees stays, arithmetic is that of hand counts, rounds are exact."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import recorded

NAMES = sorted(path.stem for path in recorded.SCRIPTS.glob("*.py"))
PRODUCTS = {"matmul", "convolution"}
LOOPS = {"elementwise", "reduce"}

_LAYERS = ((784, 512), (512, 256), (256, 10))
_FORWARD = sum(2 * 128 * m * n for m, n in _LAYERS)
#: Of every layer the gradient of the weights, of all but the first that of what it is given.
_MLP = 16 * (2 * _FORWARD + sum(2 * 128 * m * n for m, n in _LAYERS[1:]))
_CONV = (2 * 32 * 28 * 28 * 16 * 9, 2 * 32 * 14 * 14 * 32 * 16 * 9, 2 * 32 * 7 * 7 * 32 * 10)
_N = 120

#: Script, families, the names of calls, and the count by hand.
FLOP: dict[str, tuple[set[str], tuple[str, ...], float]] = {
    "mlp_adam": (PRODUCTS, ("jax.jit",), _MLP),
    # Three sums around, 4u, 0.2 times, 2u, three more sums; the square and its sum: 11 a point.
    "wave_scan": (LOOPS, ("jax.jit",), 300 * 256**2 * 11),
    "attention": (
        PRODUCTS,
        ("jax.jit",),
        4 * (2 * 4 * 128 * 256 * 768 + 2 * (2 * 4 * 8 * 128 * 128 * 32) + 2 * 4 * 128 * 256 * 256),
    ),
    "branches": (PRODUCTS, ("jax.jit",), (3 + 2 * 2) * 2 * 128**3),
    "conv_net": (PRODUCTS, ("jax.jit",), 3 * (2 * _CONV[0] + 3 * _CONV[1] + 3 * _CONV[2])),
    # Cholesky; eigenvalues; QR; singular values; a solve; the product of Q and R.
    "algebra": (
        {"factor", "matmul"},
        ("jax.jit",),
        _N**3 * (1 / 3 + 9 + 8 / 3 + 8 / 3 + 2 / 3 + 2) + 2 * _N**2,
    ),
    # A sine (26), two products, a difference and a sum.
    "eager_loop": (LOOPS, ("jax.eager",), 200 * 1000 * 30),
    # Two products of 2000 by 30, each a multiply and an add; for each row 71 for the logarithm of the sum, 36 around.
    "gradient": (LOOPS | PRODUCTS, ("jax.jit",), 20 * (4 * 2000 * 30 + 2000 * 107)),
}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, recorded.Seen]:
    return {}


def _record(name: str, seen: dict[str, recorded.Seen], folder: Path) -> recorded.Seen:
    if name not in seen:
        seen[name] = recorded.run(name, folder / "record")
    return seen[name]


@pytest.mark.parametrize("name", NAMES)
def test_recorded_is_as_alone(name: str, seen: dict[str, recorded.Seen], tmp_path: Path) -> None:
    alone = recorded.run(name)
    assert _record(name, seen, tmp_path).shown() == alone.shown()


@pytest.mark.parametrize("name", FLOP)
def test_arithmetic_is_that_of_hand_counts(name: str, seen: dict[str, recorded.Seen], tmp_path: Path) -> None:
    kinds, names, expected = FLOP[name]
    counted = recorded.total(_record(name, seen, tmp_path).workload, kinds, *names)
    assert counted == pytest.approx(expected, rel=0.01)


def test_rounds_of_a_while_loop_are_exact(seen: dict[str, recorded.Seen], tmp_path: Path) -> None:
    run = _record("jacobi_while", seen, tmp_path)
    printed = [int(rounds) for rounds in re.findall(rb"rounds (\d+)", run.out)]
    products = [
        runs
        for kind, dims, runs in recorded.parts(run.workload, "jax.jit")
        if kind == "reduce" and dims["n"] == 300 * 300
    ]
    assert sorted(products) == sorted(printed) and len(printed) == 2


def test_random_numbers_are_drawn_where_they_are_folded(seen: dict[str, recorded.Seen], tmp_path: Path) -> None:
    run = _record("monte_carlo_vmap", seen, tmp_path)
    walks = [
        dims["flop_per_element"]
        for kind, dims, runs in recorded.parts(run.workload, "jax.jit")
        if kind == "reduce" and dims["n"] == 20_000 * 50 and runs == 3
    ]
    assert len(walks) == 1 and walks[0] > 20


def _transfers(workload: dict[str, Any]) -> int:
    return sum(
        runs * dims["bytes"]
        for kind, dims, runs in recorded.parts(workload, "jax.jit")
        if kind == "transfer" and dims["direction"] == "h2d"
    )


def test_numpy_arguments_are_copied_in_and_results_read(seen: dict[str, recorded.Seen], tmp_path: Path) -> None:
    workload = _record("mlp_adam", seen, tmp_path).workload
    # Pictures and labels of 16 batches, and the step's number the first time.
    assert _transfers(workload) == 16 * (128 * 784 * 4 + 128 * 10 * 4) + 4
    reads = [entry for entry in workload["ops"] if entry["name"] == "jax.Array.__array__"]
    assert sum(entry["count"] for entry in reads) == 2
    assert all(entry["device"] == "gpu:0" for entry in reads)


def test_every_call_is_counted(seen: dict[str, recorded.Seen], tmp_path: Path) -> None:
    calls = [e["count"] for e in _record("mlp_adam", seen, tmp_path).workload["ops"] if e["name"] == "jax.jit"]
    assert sum(calls) == 16
    shapes = [e["count"] for e in _record("shapes", seen, tmp_path).workload["ops"] if e["name"] == "jax.jit"]
    assert sum(shapes) == 29 + 9 + 5 + 6


def test_compilation_is_start_up(seen: dict[str, recorded.Seen], tmp_path: Path) -> None:
    program = _record("conv_net", seen, tmp_path).workload["program"]
    assert program["startup_ns"] > 0.3 * program["wall_ns"]


def test_what_is_not_understood_is_said(seen: dict[str, recorded.Seen], tmp_path: Path) -> None:
    workload = _record("callbacks", seen, tmp_path).workload
    assert {"jax-callback", "jax-rounds"} <= {note["reason"] for note in workload["unseen"]}
    assert any(entry["name"] == "jax.jit" and entry["op"] == "opaque" for entry in workload["ops"])
