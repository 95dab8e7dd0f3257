"""`python -m breakeven.measure.compare FIRST SECOND [FLOAT64] [--against]`: the comparison of two sides, as JSON.

With a third folder, that of a run in float64: how far either side is from it, where they differ.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from . import referee, runs


def main(arguments: list[str]) -> None:
    """Print what the comparison came to."""
    first, second, *exact = (Path(word) for word in arguments if not word.startswith("--"))
    told = runs.sides(first, second, one_script="--against" not in arguments)
    if exact:
        told["referee"] = referee.decide(first, second, exact[0], [item["what"] for item in told["differences"]])
    json.dump(told, sys.stdout)


main(sys.argv[1:])
