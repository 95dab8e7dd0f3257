"""Ops of NumPy and pandas on the CPU, with what the engine calls them."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

Run = Callable[[], Any]
Op = dict[str, Any]

#: Names of element types, as the engine has them and as NumPy has them.
DTYPES = {"f64": "float64", "f32": "float32", "c128": "complex128"}
#: Bytes of their elements.
WIDTH = {"f64": 8, "f32": 4, "c128": 16, "f16": 2, "bf16": 2}
#: Of the memory that is free, no case takes more than this share.
SHARE = 0.25


@dataclass
class Case:
    """One op to measure. `make` prepares a run of it; the bytes are those of the arrays that it reads and writes."""

    library: str
    op: Op
    dtype: str
    read: int
    written: int
    make: Callable[[], Run]
    on: str = "cpu"

    @property
    def key(self) -> str:
        """What tells it from every other case."""
        return f"{self.on} {self.library} {self.op} {self.dtype}"

    @property
    def title(self) -> str:
        """What a person is told while it runs."""
        ((family, dims),) = self.op.items()
        kind = dims.get("kind", "")
        return f"{family} {kind} {self.dtype} on the {self.on.upper()} by {self.library}".replace("  ", " ")


def free_bytes() -> int:
    """Memory that is free, bytes."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 1 << 30


def cases() -> Iterator[Case]:
    """Every case that fits into memory, of the libraries that are there."""
    room = SHARE * free_bytes()
    for case in _all():
        if case.read + 2 * case.written <= room:
            yield case


def _all() -> Iterator[Case]:
    np = importlib.import_module("numpy")
    yield from _products(np)
    yield from _passes(np)
    yield from _places(np)
    yield from _factors(np)
    yield from _frames(np)


def elementwise(n: int, inputs: int, flop: float, transcendental: bool = False) -> Op:
    return {"elementwise": {"n": n, "inputs": inputs, "flop_per_element": flop, "transcendental": transcendental}}


def _products(np: Any) -> Iterator[Case]:
    shapes = [(side, side, side) for side in (64, 128, 256, 512, 768, 1024, 1536, 2048, 3072)]
    for dtype in ("f32", "f64"):
        for m, n, k in (*shapes, (16, 2048, 2048), (2048, 32, 2048)):
            if dtype == "f64" and m > 2048:
                continue
            width = WIDTH[dtype]

            def make(m: int = m, n: int = n, k: int = k, dtype: str = dtype) -> Run:
                a, b = (_random(np, dtype, *shape) for shape in ((m, k), (k, n)))
                return lambda: a @ b

            op = {"matmul": {"m": m, "n": n, "k": k, "batch": 1, "bias": False}}
            yield Case("numpy", op, dtype, width * (m * k + k * n), width * m * n, make)


def _passes(np: Any) -> Iterator[Case]:
    """One pass over arrays: arithmetic, functions, sums, running sums, copies, random numbers."""
    for dtype in ("f32", "f64"):
        width = WIDTH[dtype]
        for n in (10_000, 30_000, 200_000, 1_000_000, 4_000_000, 12_000_000, 40_000_000, 80_000_000):
            array = n * width

            def scaled(n: int = n, dtype: str = dtype) -> Run:
                # Each result is the next one's input, as in programs: two arrays take turns.
                last = [np.zeros(n, DTYPES[dtype])]

                def run() -> None:
                    last[0] = last[0] * 1.5

                return run

            yield Case("numpy", elementwise(n, 1, 1.0), dtype, array, array, scaled)
        for n in (10_000, 300_000, 3_000_000, 20_000_000):
            array = n * width

            def unary(what: Callable[[Any], Any], n: int = n, dtype: str = dtype) -> Run:
                x = _random(np, dtype, n)
                return lambda: what(x)

            def binary(n: int = n, dtype: str = dtype) -> Run:
                x, y = _random(np, dtype, n), _random(np, dtype, n)
                return lambda: x + y

            def with_(what: Callable[[Any], Any], unary: Callable[..., Run] = unary) -> Callable[[], Run]:
                return lambda: unary(what)

            yield Case("numpy", elementwise(n, 2, 1.0), dtype, 2 * array, array, binary)
            yield Case("numpy", elementwise(n, 1, 27.0, True), dtype, array, array, with_(np.exp))
            total = {"reduce": {"n": n, "out": 1, "flop_per_element": 1.0}}
            yield Case("numpy", total, dtype, array, width, with_(np.sum))
            yield Case("numpy", {"scan": {"rows": 1, "width": n}}, dtype, array, array, with_(np.cumsum))
            yield Case("numpy", {"copy": {"n": n}}, dtype, array, array, with_(np.copy))
            if dtype == "f64":
                generator = np.random.default_rng(1)
                for kind, draw in (("uniform", generator.random), ("normal", generator.standard_normal)):
                    op = {"random": {"kind": kind, "n": n}}
                    yield Case("numpy", op, dtype, 0, array, partial(partial, draw, n))


def _places(np: Any) -> Iterator[Case]:
    """What reads or writes at places that lie apart: transposes, sorts, look-ups, transforms."""
    for side in (256, 1000, 2048, 4096):
        array = 8 * side * side

        def turned(side: int = side) -> Run:
            x = _random(np, "f64", side, side)
            return lambda: np.ascontiguousarray(x.T)

        yield Case("numpy", {"copy": {"n": side * side, "strided": True}}, "f64", array, array, turned)
    for n in (10_000, 100_000, 1_000_000, 4_000_000):
        array = 8 * n
        for kind, what in (("sort", np.sort), ("argsort", np.argsort)):
            op = {"sort": {"kind": kind, "rows": 1, "width": n}}

            def ordered(what: Callable[[Any], Any] = what, n: int = n) -> Run:
                x = _random(np, "f64", n)
                return lambda: what(x)

            yield Case("numpy", op, "f64", array, array, ordered)

        def taken(n: int = n) -> Run:
            x, at = _random(np, "f64", n), np.random.default_rng(2).integers(0, n, n)
            return lambda: x[at]

        def put(n: int = n) -> Run:
            x, at = _random(np, "f64", n), np.random.default_rng(2).integers(0, n, n)
            return lambda: x.__setitem__(at, 1.0)

        yield Case("numpy", {"gather": {"n": n, "source": n}}, "f64", 2 * array, array, taken)
        yield Case("numpy", {"scatter": {"n": n, "target": n}}, "f64", array, array, put)
    for n in (1 << 10, 1 << 14, 1 << 18, 1 << 21):

        def transformed(n: int = n) -> Run:
            x = _random(np, "f64", n).astype("complex128")
            return lambda: np.fft.fft(x)

        yield Case("numpy", {"fft": {"kind": "c2c", "n": n, "batch": 1}}, "c128", 16 * n, 16 * n, transformed)


def _factors(np: Any) -> Iterator[Case]:
    linalg = np.linalg
    every = {"solve": linalg.solve, "cholesky": linalg.cholesky, "inverse": linalg.inv, "eigh": linalg.eigh,
             "qr": linalg.qr, "svd": linalg.svd}  # fmt: skip
    for n in (64, 200, 512, 900):
        for kind, what in every.items():

            def make(what: Callable[..., Any] = what, kind: str = kind, n: int = n) -> Run:
                a = _random(np, "f64", n, n)
                a = a @ a.T + n * np.eye(n)
                right = _random(np, "f64", n, 1)
                return (lambda: what(a, right)) if kind == "solve" else lambda: what(a)

            op = {"factor": {"kind": kind, "m": n, "n": n, "rhs": int(kind == "solve"), "batch": 1}}
            yield Case("numpy", op, "f64", 8 * n * n, 8 * (n if kind == "solve" else n * n), make)


def _frames(np: Any) -> Iterator[Case]:
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        return
    for dtype in ("f32", "f64"):
        for rows, columns in ((50_000, 5), (100_000, 20), (1_000_000, 5), (1_000_000, 16), (4_000_000, 4)):

            def make(rows: int = rows, columns: int = columns, dtype: str = dtype) -> Run:
                frame = pandas.DataFrame({f"c{i}": _random(np, dtype, rows) for i in range(columns)})
                frame["key"] = np.random.default_rng(3).integers(0, rows // 100, rows)
                return lambda: frame.groupby("key").sum()

            dims = {"kind": "group_by", "rows": rows, "columns": columns, "out_rows": rows // 100}
            array, result = (WIDTH[dtype] * n * columns for n in (rows, rows // 100))
            yield Case("pandas", {"dataframe": dims}, dtype, array, result, make)


def _random(np: Any, dtype: str, *shape: int) -> Any:
    return np.random.default_rng(0).random(shape, dtype="float32").astype(DTYPES[dtype])
