"""The file of measurements: CSV that only grows, one whole line at a time, with a key for what is done."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

from cases import DIMS

COLUMNS = ("op", *DIMS, "dtype", "gpu", "latency_us", "latency_us_p10", "latency_us_p90", "cpu_us", "l2", "framework",
           "launches", "samples", "watts", "driver", "versions", "python", "host", "cores", "load", "date", "note")
KEY = ("op", *DIMS, "dtype", "gpu", "l2", "framework")

Row = dict[str, object]


def key(row: Row) -> tuple[str, ...]:
    """What is not measured again."""
    return tuple(str(row.get(column, "")) for column in KEY)


def done(path: Path) -> set[tuple[str, ...]]:
    """Keys of the rows that are there. A last line that was cut short is taken off."""
    if not path.exists():
        return set()
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if whole != text:
        temporary = path.with_name(path.name + ".new")
        temporary.write_bytes(whole)
        os.replace(temporary, path)
    rows = csv.DictReader(io.StringIO(whole.decode()))
    if rows.fieldnames is not None and tuple(rows.fieldnames) != COLUMNS:
        raise SystemExit(f"error: {path} has other columns than this kit writes\n hint: name a new file")
    return {key(dict(row)) for row in rows}


def append(path: Path, row: Row) -> None:
    """Adds a line in one write."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    if not path.exists() or path.stat().st_size == 0:
        writer.writeheader()
    writer.writerow({column: "" if row.get(column) is None else row[column] for column in COLUMNS if column in row})
    with path.open("ab") as file:
        file.write(text.getvalue().encode())
        file.flush()
        os.fsync(file.fileno())
