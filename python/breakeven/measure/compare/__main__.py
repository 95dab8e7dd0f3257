"""`python -m breakeven.measure.compare FIRST SECOND [--against]`: the comparison of two sides, as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from . import runs


def main(arguments: list[str]) -> None:
    """Print what the comparison came to."""
    first, second = (Path(word) for word in arguments if not word.startswith("--"))
    json.dump(runs.sides(first, second, one_script="--against" not in arguments), sys.stdout)


main(sys.argv[1:])
