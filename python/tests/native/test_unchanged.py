"""What a script does is what it did without hooks."""

import ctypes
import errno
import gc
import sys
import threading
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from breakeven import _native

from .conftest import Recording


def test_temporaries_are_still_reused(recording: Recording) -> None:
    """`a + b + c` on large arrays writes the second sum into the first one's buffer, found by a walk up the C stack."""
    n = 1_000_000
    a, b, c = np.ones(n), np.ones(n), np.ones(n)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    d = a + b + c
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    recording.stop()
    assert d[0] == 3.0
    assert peak < 1.5 * d.nbytes
    assert recording.count("numpy.add") == 2


def test_resize_still_sees_no_other_reference(recording: Recording) -> None:
    a = np.zeros(10)
    a + 1
    a.sum()
    a.resize(20)
    assert a.shape == (20,)
    b = a
    with pytest.raises(ValueError, match="refcheck|referenced"):
        a.resize(30)
    assert b is a


def test_reference_counts_stay(recording: Recording) -> None:
    a, b = np.ones(3), np.ones(3)
    key = np.array([0, 1])
    before = [sys.getrefcount(x) for x in (a, b, key)]
    for _ in range(100):
        a + b
        a[key]
        a[key] = 1.0
        np.add.reduce(a)
        np.concatenate([a, b])
        a.sum(axis=0)
        with pytest.raises(ValueError, match="broadcast"):
            a + np.ones(4)
    assert [sys.getrefcount(x) for x in (a, b, key)] == before


def test_pending_exceptions_pass(recording: Recording) -> None:
    class Odd:
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            np.ones(3) + 1
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        np.add(Odd(), 1)
    with pytest.raises(KeyError, match="mine"):
        np.array([1.0]) + Odd()

    def generator() -> object:
        yield np.ones(2) + 1
        raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        list(generator())


def test_warnings_name_the_line_that_caused_them(recording: Recording) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = sys._getframe().f_lineno + 1
        np.log(np.zeros(2))
        np.ones(1) / np.zeros(1)
        np.mean([])
    assert [(w.filename, w.lineno) for w in caught[:2]] == [(__file__, line), (__file__, line + 1)]


def test_error_state_and_errno_stay(recording: Recording) -> None:
    with np.errstate(all="raise"):
        with pytest.raises(FloatingPointError):
            np.ones(2) / np.zeros(2)
    a = np.ones(3)
    ctypes.set_errno(errno.ENOENT)
    a + a
    assert ctypes.get_errno() == errno.ENOENT


def test_subclasses_are_seen_and_work(recording: Recording, tmp_path: object) -> None:
    masked = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
    assert masked.sum() == 4.0
    assert (masked + 1).filled(0).tolist() == [2.0, 0.0, 4.0]
    mapped = np.memmap(str(tmp_path) + "/data", dtype=np.float64, mode="w+", shape=(10,))
    mapped[2:4] = 5.0
    (mapped * 2).sum()

    class Tagged(np.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            plain = [np.asarray(i) if isinstance(i, Tagged) else i for i in inputs]
            return getattr(ufunc, method)(*plain, **kwargs).view(Tagged)

    tagged = np.ones(4).view(Tagged)
    assert type(tagged + 1) is Tagged
    recording.stop()
    site = {op["name"] for op in recording.workload["ops"]}
    assert "numpy.multiply" in site
    assert "numpy.add" in site
    mapped_set = [op for op in recording.ops("numpy.ndarray.__setitem__") if op["shapes"].startswith("[10]")]
    assert sum(op["count"] for op in mapped_set) == 1


def test_threads_lose_no_event() -> None:
    a = np.ones(10)
    each = 100_000

    def work() -> None:
        for _ in range(each):
            a + a

    _native.reset()
    recording = Recording()
    _native.start()
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recording.stop()
    assert recording.count("numpy.add") == 8 * each
    assert len({op["thread"] for op in recording.ops("numpy.add")}) == 8


def test_an_init_that_the_interpreter_runs_itself(recording: Recording, tmp_path: Path) -> None:
    """From Python 3.12 on there is a frame around it once the call is known, which is nobody's and not to be asked."""
    library: dict[str, Any] = {}
    source = "import numpy as np\nclass Kept:\n    def __init__(self, n):\n        self.x = np.ones(n) * 2.0\n"
    exec(compile(source, str(tmp_path / "site-packages" / "kept.py"), "exec"), library)
    Kept = library["Kept"]
    for n in range(100):
        Kept(n)
    recording.stop()
    assert recording.count("numpy.multiply") == 100
    sites = {recording.workload["sites"][op["site"]]["file"] for op in recording.ops("numpy.multiply")}
    assert sites == {__file__}


def test_finalisers_in_the_middle_of_events(recording: Recording) -> None:
    class Noisy:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            np.ones(2) * 3

    old = gc.get_threshold()
    gc.set_threshold(5)
    try:
        for i in range(2000):
            Noisy()
            np.ones(i % 50 + 1) + 1
    finally:
        gc.set_threshold(*old)
    recording.stop()
    assert recording.count("numpy.add") == 2000


def test_install_and_undo_leave_the_same_bytes() -> None:
    """The memory of the patched types, methods and functions is compared whole."""

    def image() -> list[bytes]:
        def raw(address: int, size: int) -> bytes:
            return ctypes.string_at(address, size)

        def pointer(address: int) -> int:
            return ctypes.c_size_t.from_address(address).value

        kinds = [np.ndarray, np.memmap, np.matrix, np.ma.MaskedArray, np.float64, np.bool_, np.int64]
        slots = []
        for kind in kinds:
            # Slots by offset in PyTypeObject: tp_repr, tp_as_number, tp_as_mapping, tp_str, tp_as_buffer, tp_iter.
            for offset in (88, 136, 160, 216):
                slots.append(raw(id(kind) + offset, 8))
            for offset, size in ((96, 36 * 8), (112, 3 * 8), (160, 2 * 8)):
                table = pointer(id(kind) + offset)
                slots.append(raw(table, size) if table else b"")
        objects = [np.add, np.exp, np.matmul, np.sum, np.concatenate]
        slots += [raw(id(x), type(x).__basicsize__) [16:] for x in objects]
        methods = [np.ndarray.sum, np.ndarray.copy, np.ndarray.dot, np.ufunc.reduce]
        slots += [raw(pointer(id(m) + 40), 24) for m in methods]
        slots += [raw(pointer(id(f) + 16), 24) for f in (np.array, np.zeros)]
        return slots

    installed = image()
    _native.undo()
    bare = image()
    assert bare != installed
    _native.reset()
    _native.start()
    np.ones(3) + 1
    _native.stop()
    import json

    assert json.loads(_native.snapshot())["ops"] == []
    for _ in range(50):
        assert set(_native.install().values()) == {"on"}
        assert image() == installed
        _native.undo()
        assert image() == bare
    # Each mechanism works alone.
    for mechanism in _native.MECHANISMS:
        assert _native.install([mechanism]) == {mechanism: "on"}
        _native.undo()
    assert image() == bare
    _native.install()
    assert image() == installed


def test_the_code_of_self_tests_is_not_kept_as_the_users() -> None:
    def installed() -> int:
        _native.undo()
        _native.install()
        gc.collect()
        return sys.getallocatedblocks()

    for _ in range(5):
        first = installed()
    last = [installed() for _ in range(20)][-1]
    # Each installation runs some thirty pieces of code; held, they would be 3000 blocks.
    assert last - first < 1500
