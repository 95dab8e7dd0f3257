"""Calls for which CuPy's host waits for the GPU: to be told how large the result is, or whether all went well.

Each was seen to wait on an H100 with CuPy 14.2, behind a kernel that kept the GPU busy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

#: What is copied back then: a count, or a state.
TOLD = np.zeros((), np.int64)
#: Whatever they are given.
_ALWAYS = frozenset(
    f"cupy.{name}"
    for name in (
        "nonzero ndarray.nonzero flatnonzero argwhere extract compress ndarray.compress unique unique_all unique_counts "
        "unique_inverse unique_values bincount histogram2d linalg.svd linalg.eigh linalg.eigvalsh linalg.lstsq linalg.pinv "
        "linalg.matrix_rank random.randint nanmax nanmin polyfit union1d intersect1d setdiff1d choose ndarray.choose "
        "unravel_index delete trim_zeros argpartition ndarray.argpartition place putmask"
    ).split()
) | {
    "cupyx.scipy.linalg.lu_factor",
    "cupyx.scipy.ndimage.label",
    "cupyx.scipy.sparse.csr_matrix.toarray",
    "cupyx.scipy.sparse.linalg.spsolve",
}


def waits(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the host waits for what this call has put on the device."""
    if name in _ALWAYS:
        return True
    if name == "cupy.where":
        return len(args) == 1 and not kwargs
    if name in ("cupy.repeat", "cupy.ndarray.repeat"):
        return not isinstance(args[1] if len(args) > 1 else kwargs.get("repeats"), int)
    if name == "cupy.histogram":
        return kwargs.get("range") is None and len(args) < 3
    if name == "cupy.average":
        return kwargs.get("weights") is not None or len(args) > 2
    if name == "cupy.random.choice":
        return bool(kwargs.get("replace", args[2] if len(args) > 2 else True))
    return False
