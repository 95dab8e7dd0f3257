"""Which parameters and data keep an estimator on the CPU under cuml.accel: `fallbacks.csv`, row by row."""

from __future__ import annotations

import csv
import numbers
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

#: A row: parameter (or `given.NAME`, an argument), whether its value falls back, the id of why.
Rule = tuple[str, "Callable[[Any], bool]", str]

_TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fallbacks.csv")


def rows() -> list[dict[str, str]]:
    """The table."""
    with open(_TABLE, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split("|"))


def _test(when: str) -> Callable[[Any], bool]:
    """What the column `when` says of a value."""
    kind, _, rest = when.partition(":")
    words = _words(rest)
    tests: dict[str, Callable[[Any], bool]] = {
        "callable": callable,
        "true": bool,
        "set": lambda value: value is not None,
        "nonzero": lambda value: value not in (0, None, False),
        "is": lambda value: isinstance(value, (str, int, bool)) and str(value) in words,
        "not": lambda value: str(value) not in words,
        "no_text": lambda value: not isinstance(value, str),
        "whole_number": _is_whole,
        "no_whole_number": lambda value: not _is_whole(value),
        "sparse": lambda value: hasattr(value, "nnz"),
        "many_columns": lambda value: len(getattr(value, "shape", ())) > 1 and value.shape[1] > 1,
        "beyond": lambda value: _number(value) > float(rest),
        "nan": _has_nan,
    }
    return tests[kind]


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _has_nan(value: Any) -> bool:
    """Whether there is a NaN among the values of an array or a frame of numbers."""
    if hasattr(value, "isna"):
        return bool(value.isna().to_numpy().any())
    if getattr(getattr(value, "dtype", None), "kind", "") != "f":
        return False
    errstate = sys.modules["numpy"].errstate
    with errstate(all="ignore"):
        total = value.sum()
    return bool(total != total) and bool((value != value).any())


class Rules:
    """The rows by estimator, read when the first is asked for."""

    def __init__(self) -> None:
        self.of: dict[str, list[Rule]] | None = None

    def _read(self) -> dict[str, list[Rule]]:
        read: dict[str, list[Rule]] = {}
        for row in rows():
            for name in row["estimator"].split("|"):
                read.setdefault(name, []).append((row["what"], _test(row["when"]), row["id"]))
        return read

    def stays(self, short: str, estimator: Any, given: Mapping[str, Any]) -> str | None:
        """The id of the first row that keeps this call on the host."""
        if self.of is None:
            self.of = self._read()
        for what, test, id in self.of.get(short, ()):
            if what.startswith("given."):
                what = what[6:]
                if what in given and given[what] is not None and test(given[what]):
                    return id
            elif what.startswith("learnt."):
                value = estimator.__dict__.get(what[7:])
                if value is not None and test(len(value) if hasattr(value, "__len__") else value):
                    return id
            elif hasattr(estimator, what) and test(getattr(estimator, what)):
                return id
        return None


rules = Rules()
