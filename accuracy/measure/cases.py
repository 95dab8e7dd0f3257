"""What is measured: ops with their dims and dtypes, the useful core first."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DIMS = ("b", "m", "n", "k", "h", "cin", "cout", "ksize", "hw", "stride", "pad")


class Case(NamedTuple):
    """One kernel to measure."""

    family: str
    op: str
    dtype: str
    dims: dict[str, int]
    core: bool


IMAGES = ((3, 64, 224, 7, 2), (64, 64, 56, 3, 1), (64, 256, 56, 1, 1), (256, 64, 56, 1, 1), (128, 128, 28, 3, 1),
          (256, 512, 56, 1, 2), (256, 256, 14, 3, 1), (1024, 256, 14, 1, 1), (512, 512, 7, 3, 1), (512, 2048, 7, 1, 1),
          (64, 64, 224, 3, 1), (256, 256, 28, 5, 1))
"""Channels in and out, side of the picture, of the window, and its step: layers of ResNet-50 and a few more."""
FLOATS = ("f32", "f64", "f16", "bf16")
FAMILIES = (
    "matmul", "elementwise", "reduce", "rowwise", "scan", "sort", "gather", "copy", "fft", "factor", "random",
    "convolution", "attention", "transfer",
)


def cases(device: str) -> list[Case]:
    """Every case for a device (`cuda` or `cpu`), the core first, small before large."""
    big = device == "cuda"
    every = list(_cases(big))
    return [c for c in every if c.core] + [c for c in every if not c.core]


def listed(table: Path) -> list[Case]:
    """The kernels of a table with columns `op`, dims and `dtype`, each once, in its order. Errors name the line."""
    every = {}
    with table.open(newline="") as file:
        rows = csv.DictReader(file)
        if not {"op", "dtype"} <= set(rows.fieldnames or ()):
            raise ValueError(f"{table} has no columns op and dtype; it has {', '.join(rows.fieldnames or ['none'])}")
        for row in rows:
            try:
                dims = {d: int(float(row[d])) for d in DIMS if row.get(d)}
            except (ValueError, OverflowError) as error:
                raise ValueError(f"{table}, line {rows.line_num}: {error}; whole numbers are allowed") from None
            if any(size < (name != "pad") for name, size in dims.items()):
                raise ValueError(f"{table}, line {rows.line_num}: {dims}; dims are at least 1 (pad 0)")
            case = Case("", row["op"], row["dtype"], dims, True)
            every[str(case)] = case
    return list(every.values())


def _cases(big: bool) -> Iterator[Case]:
    floats = FLOATS if big else FLOATS[:2]
    sizes = [1 << e for e in (range(10, 28, 3) if big else range(10, 25, 2))]
    for dtype in floats:
        squares = (256, 512, 1024, 2048, 4096, 8192) if big else (64, 256, 512, 1024, 2048)
        for side in squares:
            yield Case("matmul", "matmul", dtype, {"b": 1, "m": side, "n": side, "k": side}, True)
        for m, n, k in ((16, 4096, 4096), (1, 4096, 4096), (1000, 1000, 1000), (4096, 64, 4096), (64, 64, 65536)):
            yield Case("matmul", "matmul", dtype, {"b": 1, "m": m, "n": n, "k": k}, False)
        for b, side in ((64, 64), (64, 256), (512, 128)):
            yield Case("matmul", "bmm", dtype, {"b": b, "m": side, "n": side, "k": side}, False)
        if big:
            for tokens in (1, 128, 2048):
                yield Case("matmul", "linear", dtype, {"b": 1, "m": tokens, "n": 4096, "k": 4096}, False)
    for dtype, side in itertools.product(("tf32", "f8", "i8") if big else (), (512, 1024, 2048, 4096, 8192)):
        yield Case("matmul", "matmul", dtype, {"b": 1, "m": side, "n": side, "k": side}, True)
    for dtype, n in itertools.product(floats, sizes):
        for op in ("add", "exp"):
            yield Case("elementwise", op, dtype, {"b": 1, "h": n}, dtype in ("f32", "f64"))
        for op in ("mulu", "div", "sqrt", "sin", "pow", "tanh", "relu", "gelu", "where"):
            yield Case("elementwise", op, dtype, {"b": 1, "h": n}, False)
        yield Case("reduce", "sum", dtype, {"b": 1, "h": n}, dtype in ("f32", "f64"))
        yield Case("copy", "copy", dtype, {"b": 1, "h": n}, dtype == "f32")
    for dtype in floats:
        for rows, width in ((4096, 128), (1024, 1024), (64, 65536)):
            for op in ("softmax", "ln"):
                yield Case("rowwise", op, dtype, {"b": rows, "h": width}, dtype == "f32")
            for op in ("sum", "max", "argmax", "var"):
                yield Case("reduce", op, dtype, {"b": rows, "h": width}, False)
        for side in (512, 2048, 4096):
            yield Case("copy", "transpose", dtype, {"b": side, "h": side}, dtype == "f32")
    for dtype in ("f32", "f64", "i32", "i64"):
        for n in sizes[2::2]:
            for op in ("sort", "argsort", "unique", "cumsum"):
                family = "scan" if op == "cumsum" else "sort"
                yield Case(family, op, dtype, {"b": 1, "h": n}, dtype == "f32" and op != "unique")
            for op in ("gather", "scatter"):
                yield Case("gather", op, dtype, {"b": n, "h": n}, dtype == "f32")
    for dtype in ("f32", "f64"):
        for n in sizes[1:-1:2]:
            for op in ("fft", "rfft"):
                yield Case("fft", op, dtype if op == "rfft" else {"f32": "c64", "f64": "c128"}[dtype],
                           {"b": 1, "h": n}, op == "fft")
            for op in ("uniform", "normal"):
                yield Case("random", op, dtype, {"b": 1, "h": n}, dtype == "f64")
        for side in ((128, 512, 2048) if big else (64, 256, 1024)):
            for op in ("cholesky", "solve", "inv", "eigh"):
                yield Case("factor", op, dtype, {"b": 1, "n": side}, dtype == "f64" and op in ("solve", "cholesky"))
            for op in ("lu", "qr", "svd"):
                yield Case("factor", op, dtype, {"b": 1, "m": side, "n": side}, dtype == "f64" and op == "svd")
    for (cin, cout, hw, ksize, stride), op, dtype in itertools.product(
        IMAGES, ("conv", "conv_data", "conv_weight"), ("f32", "tf32", "f16", "bf16") if big else ("f32",)
    ):
        if op != "conv_data" or cin > 3:
            dims = {"b": 32 if big else 2, "cin": cin, "cout": cout, "ksize": ksize, "hw": hw, "stride": stride,
                "pad": ksize // 2}
            yield Case("convolution", op, dtype, dims, dtype != "bf16")
    for channels, side in ((64, 112), (256, 56), (1024, 14), (2048, 7)) if big else ((64, 8),):
        yield Case("rowwise", "batchnorm", "f32", {"b": channels, "h": 64 * side * side}, True)
    for dtype in floats:
        for length in ((512, 2048) if big else (128, 512)):
            dims = {"b": 4 if big else 1, "h": 12, "m": length, "n": length, "k": 64}
            yield Case("attention", "attention", dtype, dims, dtype == floats[0])
    if big:
        for n in (1 << 12, 1 << 18, 1 << 24, 1 << 27):
            for op in ("h2d", "d2h", "h2d_pinned", "d2h_pinned"):
                yield Case("transfer", op, "f32", {"b": 1, "h": n}, True)
