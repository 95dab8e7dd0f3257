"""`cupyx.scipy.spatial.distance`, as CuPy has it by cuVS: distances of all pairs by one kernel."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import calls, shared

#: Metrics by all their names.
_METRICS = {
    alias: metric
    for metric, aliases in {
        "canberra": "", "chebyshev": "chebychev cheby cheb ch", "cityblock": "cblock cb c", "correlation": "co",
        "cosine": "cos", "hamming": "matching hamm ha h", "euclidean": "euclid eu e", "jensenshannon": "js",
        "minkowski": "mi m pnorm", "russellrao": "", "sqeuclidean": "sqe sqeuclid", "hellinger": "",
        "kl_divergence": "kl_div kld",
    }.items()
    for alias in (metric, *aliases.split())
}  # fmt: skip


def _hellinger(a: Any, b: Any) -> Any:
    return np.sqrt(np.maximum(0, 1 - np.sqrt(a) @ np.sqrt(b).T))


def _divergence(a: Any, b: Any) -> Any:
    special = importlib.import_module("scipy.special")
    return np.stack([special.rel_entr(row, b).sum(axis=1) for row in a])


def _computed(metric: str, p: float) -> Callable[[Any, Any], Any]:
    own = {"hellinger": _hellinger, "kl_divergence": _divergence}
    if metric in own:
        return own[metric]
    cdist = importlib.import_module("scipy.spatial.distance").cdist
    if metric == "russellrao":
        return lambda a, b: cdist(a != 0, b != 0, metric)
    return lambda a, b: cdist(a, b, metric, **({"p": p} if metric == "minkowski" else {}))


def _floating(array: Any) -> Any:
    return array if array.dtype in (np.float32, np.float64) else sys.modules["cupy"].asarray(array, dtype=np.float32)


def cdist(XA: Any, XB: Any, metric: Any = "euclidean", out: Any = None, **kwargs: Any) -> Any:
    """The distances of each row of one matrix from each of another, in the precision of the first."""
    XA, XB = _floating(XA), _floating(XB)
    orders = ["F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C" for array in (XA, XB)]
    if orders[0] != orders[1]:
        raise ValueError(f"XA and XB must have the same layout (XA.order={orders[0]}, XB.order={orders[1]}")
    for name, array in (("XA", XA), ("XB", XB)):
        if array.ndim != 2:
            raise ValueError(f"{name} must be a 2-dimensional array.")
    if XA.shape[1] != XB.shape[1]:
        raise ValueError("XA and XB must have the same number of columns (i.e. feature dimension.)")
    if not isinstance(metric, str):
        raise TypeError("2nd argument metric must be a string identifier")
    if metric.lower() not in _METRICS:
        raise ValueError(f"Unknown Distance Metric: {metric.lower()}")
    a, b = calls.plain((XA, XB))
    if a.dtype != b.dtype:
        raise ValueError("Inputs must have the same dtypes")
    of_pairs = _computed(_METRICS[metric.lower()], kwargs.get("p", 2.0))

    def compute(first: Any, second: Any) -> Any:
        return of_pairs(first, second).astype(a.dtype, order=orders[0], copy=False)

    found = calls.wrapped(calls.run("cupyx.scipy.spatial.distance.cdist", compute, (a, b), {}, {"metric": metric}))
    if out is None:
        return found
    shared.quietly(np.copyto, out._a, found._a, "unsafe")
    return out


def pdist(X: Any, metric: Any = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    """The distances of all pairs of rows: those of `cdist` above the diagonal."""
    whole = cdist(X, X, metric, out, **kwargs)
    return whole[sys.modules["cupy"].triu_indices_from(whole, 1)]


def distance_matrix(x: Any, y: Any, p: float = 2.0) -> Any:
    """The same of what is brought to the device first."""
    cupy = sys.modules["cupy"]
    x, y = cupy.asarray(x), cupy.asarray(y)
    if x.shape[1] != y.shape[1]:
        raise ValueError(f"x contains {x.shape[1]}-dimensional vectors but y contains {y.shape[1]}-dimensional vectors")
    return cdist(x, y, "minkowski", p=p)


def _of_two(metric: str) -> Callable[..., Any]:
    def distance(u: Any, v: Any, *p: float) -> Any:
        return cdist(u.reshape(1, -1), v.reshape(1, -1), metric, **({"p": p[0]} if p else {}))[0, 0]

    distance.__name__ = distance.__qualname__ = metric
    return distance


_ONE_BY_ONE = (
    "canberra chebyshev cityblock correlation cosine hamming euclidean jensenshannon russellrao sqeuclidean hellinger "
    "kl_divergence minkowski"
)
CONTENTS: dict[str, Any] = {
    "cdist": cdist, "pdist": pdist, "distance_matrix": distance_matrix, "cuvs_available": True,
    "pylibraft_available": False, "check_soft_dependencies": lambda: None,
    **{metric: _of_two(metric) for metric in _ONE_BY_ONE.split()},
}  # fmt: skip
