"""Which loops are kernels: small functions, each with what it has to be told as. Nothing is compiled for that."""

from __future__ import annotations

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from breakeven.numba.plans import Asked
from breakeven.numba.source import source_of
from breakeven.numba.values import NotTold


def line() -> np.ndarray:
    return np.arange(1.0, 1001.0)


def table() -> np.ndarray:
    return np.ones((50, 60))


def backwards(a):
    for i in range(a.size):
        a[i] = a[a.size - 1 - i]


def scattered(a, b, places):
    for i in range(a.size):
        a[places[i]] = b[i]


def added_to_halves(a, b):
    for i in range(a.size):
        a[i // 2] += b[i]


def shared_scratch(a, b):
    scratch = np.zeros(1)
    for i in range(a.size):
        scratch[0] = a[i]
        b[i] = scratch[0]


def own_scratch(a, b):
    for i in range(a.size):
        scratch = np.zeros(3)
        scratch[0] = a[i]
        b[i] = scratch[0]


def handed_on(a, b):
    last = 0.0
    for i in range(a.size):
        b[i] = a[i] - last
        last = a[i]


def columns(a, c):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            c[j] += a[i, j]


def fibonacci(f):
    for i in range(2, f.size):
        f[i] = f[i - 1] + f[i - 2]


def rows(a):
    for i in range(a.shape[0]):
        row = a[i]
        for j in range(row.size):
            row[j] = row[j] * 2.0


def reshaped(a):
    flat = a.ravel()
    for i in range(flat.size):
        flat[i] = a[i // 60, i % 60] * 2.0


def least(a):
    best, place = 1e9, -1
    for i in range(a.size):
        best = min(best, a[i])
    return best, place


def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[j, k]


def one_index(out, a):
    for i in range(1000):
        for j in range(3):
            out[i * 3 + j] = a[i] * j


def overlapping(out, a):
    for i in range(1000):
        for j in range(5):
            out[i * 3 + j] = a[i] * j


def in_place(u):
    for _ in range(10):
        for i in range(1, u.size - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1])


def two_arrays(u, v):
    for _ in range(10):
        for i in range(1, u.size - 1):
            v[i] = 0.5 * (u[i - 1] + u[i + 1])
        u, v = v, u


def eliminated(a):
    for k in range(50):
        for i in range(k + 1, 50):
            for j in range(50, 60):
                a[i, j] -= a[i, k] * a[k, j]


def whole(a):
    b = a * 2.0 + 1.0
    return np.exp(b).sum()


def triangle(a):
    total = 0.0
    for i in range(a.size):
        for j in range(i + 1, a.size):
            total += a[i] * a[j]
    return total


def centres(sums, rows, labels):
    for i in range(rows.shape[0]):
        sums[labels[i]] += rows[i]


def small_steps(state, steps):
    for k in range(steps.shape[0]):
        state[:] = state * 0.5 + steps[k]


@numba.stencil
def neighbours(u):
    return u[-1, 0] + u[1, 0] - 2.0 * u[0, 0]


def smoothed(u):
    return u + 0.1 * neighbours(u)


CASES = [
    (backwards, (line(),), "sequential", []),
    (scattered, (line(), line(), np.arange(1000)), "unknown", []),
    (added_to_halves, (line(), line()), None, [1000]),
    (shared_scratch, (line(), line()), "sequential", []),
    (own_scratch, (line(), line()), None, [1000]),
    (handed_on, (line(), line()), "sequential", []),
    (columns, (table(), line()), None, [3000]),
    (fibonacci, (line(),), "sequential", []),
    (rows, (table(),), None, [3000]),
    (reshaped, (table(),), "unknown", []),
    (least, (line(),), None, [1000]),
    (product, (table(), table(), np.zeros((50, 50))), None, [2500]),
    (one_index, (np.zeros(3000), line()), None, [3000]),
    (overlapping, (np.zeros(3005), line()), "sequential", []),
    (in_place, (line(),), "sequential", []),
    (two_arrays, (line(), line()), None, [998]),
    (eliminated, (table(),), None, [245]),
    (whole, (table(),), None, [3000, 3000]),
    (triangle, (line(),), None, [1000]),
    # Rows that rounds add to are added to in any order; operations on three numbers are no kernels.
    (centres, (np.zeros((4, 60)), table(), np.zeros(50, np.int64)), None, [50]),
    (small_steps, (np.ones(3), np.ones((500, 3))), "sequential", []),
    (smoothed, (table(),), None, [3000, 3000]),
]


@pytest.mark.parametrize(("function", "given", "stays", "threads"), CASES, ids=[case[0].__name__ for case in CASES])
def test_loops_are_kernels_where_no_round_needs_another(function, given, stays, threads) -> None:
    if stays == "unknown":
        with pytest.raises(NotTold, match="not known"):
            Asked(source_of(function), list(given), {})
        return
    asked = Asked(source_of(function), list(given), {})
    assert asked.plan.stays == stays, asked.why
    if stays is None:
        parts = asked.plan.facts["parts"]
        assert [part["n"] for part in parts if "n" in part] == threads, parts


def test_rounds_of_triangles_are_added_up() -> None:
    asked = Asked(source_of(triangle), [line()], {})
    (part, *_) = asked.plan.facts["parts"]
    assert part["n"] * part["functions"]["one"] == pytest.approx(1000 * 999 / 2 * 2)


def test_what_a_swap_hands_back_is_written() -> None:
    asked = Asked(source_of(two_arrays), [line(), line()], {})
    assert (asked.plan.given, asked.plan.made) == (0b11, 0b11)
