"""What is recorded: each call once, under its public name, at the line that made it."""

import time

import numpy as np
import pytest

from .conftest import Recording


def test_a_loop_is_one_entry_with_a_count(recording: Recording) -> None:
    a, b = np.ones(10), np.ones(10)
    for _ in range(1000):
        a + b
    recording.stop()
    (add,) = recording.ops("numpy.add")
    assert add["count"] == 1000
    assert add["op"] == {"elementwise": {"n": 10, "inputs": 2, "flop_per_element": 1.0, "transcendental": False}}
    assert add["dtype"] == "f64"
    assert recording.workload["order"][-1] == [1000, [recording.workload["ops"].index(add)]]


def test_sites_are_lines_of_this_file(recording: Recording) -> None:
    a = np.ones(10)
    a * 2  # here
    recording.stop()
    (multiply,) = recording.ops("numpy.multiply")
    site = recording.workload["sites"][multiply["site"]]
    assert site["file"] == __file__
    assert site["text"] == "a * 2  # here"
    assert site["function"].endswith("test_sites_are_lines_of_this_file")


def test_a_product_of_2000_by_2000_reads_64_megabytes(recording: Recording) -> None:
    a = np.zeros((2000, 2000), dtype=np.float32)
    a @ a
    recording.stop()
    (product,) = recording.ops("numpy.matmul")
    assert product["op"] == {"matmul": {"m": 2000, "n": 2000, "k": 2000, "batch": 1, "bias": False}}
    assert product["read_bytes"] == 2 * 4 * 2000 * 2000
    assert product["written_bytes"] == 4 * 2000 * 2000


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("np.sum(a)", "numpy.sum"),
        ("a.sum()", "numpy.ndarray.sum"),
        ("a.mean()", "numpy.ndarray.mean"),
        ("np.add.reduce(a)", "numpy.add.reduce"),
        ("np.add.accumulate(a)", "numpy.add.accumulate"),
        ("np.linalg.svd(m)", "numpy.linalg.svd"),
        ("np.linalg.solve(m, a)", "numpy.linalg.solve"),
        ("np.fft.fft(a)", "numpy.fft.fft"),
        ("np.einsum('ij,j->i', m, a)", "numpy.einsum"),
        ("np.where(a > 1, a, 0.0)", "numpy.where"),
        ("np.concatenate([a, a])", "numpy.concatenate"),
        ("np.sort(a)", "numpy.sort"),
        ("a.sort()", "numpy.ndarray.sort"),
        ("a[np.array([0, 1])]", "numpy.ndarray.__getitem__"),
        ("a[0:2] = 1", "numpy.ndarray.__setitem__"),
        ("np.arange(5.0)", "numpy.arange"),
        ("np.random.default_rng(0).normal(size=5)", "numpy.random.Generator.normal"),
        ("np.random.rand(5)", "numpy.random.RandomState.rand"),
        ("a += 1", "numpy.add"),
        ("-a", "numpy.negative"),
        ("a ** 2", "numpy.square"),
        ("np.clip(a, 0, 1)", "numpy.clip"),
    ],
)
def test_one_statement_is_one_event_under_its_name(statement: str, name: str, recording: Recording) -> None:
    space = {"np": np, "a": np.ones(3), "m": np.eye(3) * 2}
    code = compile(statement, "statement.py", "exec")
    from breakeven import _native

    _native.reset()
    exec(code, space)
    recording.stop()
    assert recording.count(name) == 1, recording.counts()
    own = {n: c for n, c in recording.counts().items() if n not in ("numpy.array", "numpy.greater")}
    assert own == {name: 1} or name == "numpy.square"


def test_composite_functions_are_their_leaves(recording: Recording) -> None:
    a = np.ones(10)
    np.diff(a)
    recording.stop()
    assert recording.count("numpy.diff") == 0
    (subtract,) = recording.ops("numpy.subtract")
    assert recording.workload["sites"][subtract["site"]]["via"] == "numpy.diff"


def test_in_place_ops_read_two_and_write_one(recording: Recording) -> None:
    a, b = np.ones(100), np.ones(100)
    a += b
    recording.stop()
    (add,) = recording.ops("numpy.add")
    assert (add["read_bytes"], add["written_bytes"]) == (1600, 800)


def test_calls_that_raise_are_no_events(recording: Recording) -> None:
    a = np.ones(3)
    with pytest.raises(ValueError, match="broadcast"):
        a + np.ones(4)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.inv(np.zeros((2, 2)))
    with pytest.raises(IndexError):
        a[7]
    a * 2
    recording.stop()
    counts = recording.counts()
    assert "numpy.add" not in counts
    assert "numpy.linalg.inv" not in counts
    assert "numpy.ndarray.item" not in counts
    assert counts["numpy.multiply"] == 1


def test_many_shapes_at_a_line_are_few_entries(recording: Recording) -> None:
    for n in range(1, 3000):
        np.zeros(n)
    recording.stop()
    assert recording.count("numpy.zeros") == 2999
    assert len(recording.ops("numpy.zeros")) < 120


@pytest.mark.timed
def test_in_a_steady_loop_few_calls_are_timed_and_their_times_add_up(recording: Recording) -> None:
    a = np.ones(10)
    np.sqrt(a + a)
    began = time.perf_counter_ns()
    for _ in range(100_000):
        np.sqrt(a + a)
    np.sqrt(np.ones(1000))  # timed, as it is the first of its kind, and so ends what was not
    ended = time.perf_counter_ns()
    recording.stop()
    assert recording.workload["program"]["sampling"] > 4
    charged = sum(op["cpu_ns"] + op["gap_ns"] for op in recording.workload["ops"])
    assert charged == pytest.approx(ended - began, rel=0.02, abs=5e6)
    for name in ("numpy.add", "numpy.sqrt"):
        (looped,) = [op for op in recording.ops(name) if op["count"] > 1]
        assert looped["count"] == 100_000 and looped["cpu_ns"] > 0


def test_a_slow_call_at_a_place_of_tiny_ones_is_timed_as_such(recording: Recording) -> None:
    small, large = np.ones(10), np.ones(2_000_000)
    for i in range(20_000):
        np.exp(large if i % 5000 == 4999 else small)
    recording.stop()
    times = {op["written_bytes"]: op["cpu_ns"] / op["count"] for op in recording.ops("numpy.exp")}
    assert {op["written_bytes"]: op["count"] for op in recording.ops("numpy.exp")} == {80: 19_996, 16_000_000: 4}
    assert times[80] < 20_000 < 200_000 < times[16_000_000]
