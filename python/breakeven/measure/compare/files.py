"""Files that both sides wrote: arrays as arrays, text as printed text, all else byte by byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from . import arrays, text
from .tolerance import Found

#: Text files beyond this are compared byte by byte.
_LONGEST = 64 << 20


def compare(ours: Path, theirs: Path, name: str, tolerance: float, found: Found) -> None:
    """Compare one file of both sides."""
    found.files += 1
    what = f"file {name}"
    one, other = ours.read_bytes(), theirs.read_bytes()
    if one == other:
        return
    if name.endswith((".npy", ".npz")) and _arrays(ours, theirs, what, found):
        return
    texts = _text(one), _text(other)
    if texts[0] is not None and texts[1] is not None:
        text.compare(texts[0], texts[1], what, tolerance, found)
        return
    at = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
    found.differs(what, f"{what}: {len(one)} bytes against {len(other)}, the first difference at byte {at}")


def _arrays(ours: Path, theirs: Path, what: str, found: Found) -> bool:
    """Whether both files are NumPy's, and were compared."""
    try:
        one, other = _loaded(ours), _loaded(theirs)
    except (OSError, ValueError):
        return False
    for name in sorted(one.keys() | other.keys()):
        label = f"{what}, {name}" if name else what
        if name not in one or name not in other:
            found.differs(label, f"{label} is on one side alone")
            continue
        a, b = one[name], other[name]
        arrays.compare(a, b, label, (str(a.dtype), str(b.dtype)), found)
    return True


def _loaded(path: Path) -> dict[str, Any]:
    held = np.load(path, allow_pickle=False)
    if isinstance(held, np.ndarray):
        return {"": held}
    with held:
        return {name: held[name] for name in held.files}


def _text(content: bytes) -> str | None:
    if b"\0" in content or len(content) > _LONGEST:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
