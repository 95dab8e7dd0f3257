"""How far two numbers may lie apart, by the type of elements that they were computed in."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

#: Relative difference that is allowed: NumPy's own for float64 (`assert_allclose`), a hundredfold of what rounding in
#: another order gives for the others.
BY_TYPE = {
    "float64": 1e-7, "complex128": 1e-7, "float32": 1e-4, "complex64": 1e-4, "float16": 1e-2, "bfloat16": 3e-2,
    "longdouble": 1e-7,
}  # fmt: skip
DEFAULT = BY_TYPE["float64"]
#: A difference counts against a number, but at least against so much of the array's largest: what remains where terms
#: cancel has no digits of its own.
OF_LARGEST = 0.1
#: What differs between two runs of one side may differ so much more between the sides.
WIDENED = 3.0


def of(*dtypes: str) -> float:
    """The tolerance for results of these types: that of the least exact."""
    return max((BY_TYPE.get(dtype, 0.0) for dtype in dtypes), default=DEFAULT) or DEFAULT


def finite(relative: float | None) -> float | None:
    """A relative difference as JSON has it: it knows no infinity."""
    return relative if relative is not None and math.isfinite(relative) else None


@dataclass
class Found:
    """What a comparison came to."""

    #: Of each kind of thing, how many were compared.
    numbers: int = 0
    lines: int = 0
    arrays: int = 0
    files: int = 0
    #: The largest relative difference, and of what.
    largest: float = 0.0
    largest_of: str = ""
    #: The largest relative difference of each thing that agrees.
    close: dict[str, float] = field(default_factory=dict)
    #: By what it is of: in words, and where numbers differ the relative difference.
    differences: dict[str, tuple[str, float | None]] = field(default_factory=dict)
    #: What was not compared, in words.
    left_out: list[str] = field(default_factory=list)

    def near(self, what: str, relative: float) -> None:
        """Numbers that agree within their tolerance."""
        self.close[what] = max(relative, self.close.get(what, 0.0))
        if relative > self.largest:
            self.largest, self.largest_of = relative, what

    def differs(self, what: str, words: str, relative: float | None = None) -> None:
        """Something that does not agree; of one thing the first is told."""
        self.differences.setdefault(what, (words, relative))

    @property
    def compared(self) -> int:
        """How many things were."""
        return self.numbers + self.lines + self.arrays + self.files

    def told(self) -> dict[str, Any]:
        """As JSON has it."""
        differences = [
            {"what": what, "text": text, "relative": finite(relative)}
            for what, (text, relative) in self.differences.items()
        ]
        return {
            "agree": not self.differences, "differences": differences, "largest_relative": self.largest,
            "largest_of": self.largest_of, "numbers": self.numbers, "lines": self.lines, "arrays": self.arrays,
            "files": self.files, "left_out": self.left_out,
        }  # fmt: skip
