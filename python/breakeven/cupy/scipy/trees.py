"""`cupyx.scipy.spatial.KDTree`, as CuPy has it: each search is one kernel, computed here by SciPy's tree."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import calls
from ..core.calls import cupy as _cupy
from . import distances

_NAME = "cupyx.scipy.spatial.KDTree"


class KDTree:
    """Points of the device, sorted by each of their dimensions in turn; `tree` has them in the order of SciPy's."""

    def __init__(
        self, data: Any, leafsize: int = 10, compact_nodes: bool = True, copy_data: bool = False,
        balanced_tree: bool = True, boxsize: Any = None,
    ) -> None:  # fmt: skip
        cupy = _cupy()
        self.data = data.copy() if copy_data else data
        if not balanced_tree:
            warnings.warn("balanced_tree=False is not supported by the GPU implementation of KDTree, skipping.")
        self.n, self.m = self.data.shape
        self.copy_query_points = boxsize is not None
        self.boxsize = cupy.full(self.m, cupy.inf, dtype=cupy.float64)
        if boxsize is not None:
            self._keep_in_box(boxsize)
        self.tree, self.index = self._sorted()
        if self.copy_query_points:
            _refuse_but_doubles(self.data)
        self.mins, self.maxes = cupy.min(self.tree, axis=0), cupy.max(self.tree, axis=0)

    def _keep_in_box(self, boxsize: Any) -> None:
        cupy = _cupy()
        if getattr(boxsize, "shape", None) == (self.m,):
            self.boxsize = cupy.ascontiguousarray(boxsize, cupy.float64)
        else:
            self.boxsize = cupy.empty((self.m,), cupy.float64)
            self.boxsize[...] = boxsize
        periodic = self.boxsize > 0
        if (self.data >= self.boxsize[None, :])[:, periodic].any():
            raise ValueError("Some input data are greater than the size of the periodic box.")
        if (self.data < 0)[:, periodic].any():
            raise ValueError("Negative input data are outside of the periodic box.")

    def _sorted(self) -> tuple[Any, Any]:
        """The points as the tree has them, and which of those given each is."""

        def build(points: Any, box: Any, in_box: bool) -> Any:
            lengths = np.where(np.isinf(box), 0, box) if in_box else None
            self._found_by = importlib.import_module("scipy.spatial").KDTree(points, boxsize=lengths)
            return points[self._found_by.indices], np.array(self._found_by.indices)

        plain = calls.plain((self.data, self.boxsize))
        tree, index = calls.wrapped(calls.run(_NAME, build, plain, {"in_box": self.copy_query_points}))
        return tree, index

    def _asked(self, x: Any) -> tuple[Any, tuple[int, ...]]:
        """Rows of points in the type of the tree's, and the shape in which they were given."""
        if self.copy_query_points:
            _refuse_but_doubles(x)
            x = x.copy()
        common = np.result_type(self.tree.dtype, x.dtype)
        if self.tree.dtype != common:
            self.tree.astype(common)  # what CuPy's kernel reads
        rows = x if x.dtype == common else x.astype(common)
        if rows.ndim > 2:
            rows = rows.reshape(-1, x.shape[-1])
        if rows.shape[-1] != self.m:
            raise ValueError(
                "The number of dimensions of the query points must match with the tree ones. "
                f"Expected {self.m}, got: {rows.shape[-1]}"
            )
        return rows, x.shape

    def query(
        self, x: Any, k: Any = 1, eps: float = 0.0, p: float = 2.0, distance_upper_bound: float = math.inf
    ) -> tuple[Any, Any]:
        """The distances of the nearest points, and which they are."""
        cupy = _cupy()
        rows, shape = self._asked(x)
        if not isinstance(k, list):
            try:
                k = int(k)
            except TypeError:
                raise ValueError("k must be an integer or list of integers") from None
        count = rows.size // self.m
        most = k if isinstance(k, int) else max(k)
        far = cupy.full((count, most), cupy.inf, dtype=cupy.float64)
        which = cupy.full((count, most), self.n, dtype=cupy.int64)
        p = float(p)

        def nearest(points: Any, far: Any, which: Any) -> None:
            found = self._found_by.query(points.reshape(-1, self.m), range(1, most + 1), eps, p, distance_upper_bound)
            far[...] = found[0] if math.isinf(p) else found[0] ** p
            which[...] = found[1]

        _fill("query", nearest, rows, far, which)
        if not isinstance(k, int):
            columns = [place - 1 for place in k]
            far, which = far[:, columns], which[:, columns]
        if len(shape) > 2:
            far, which = far.reshape(*shape[:-1], -1), which.reshape(*shape[:-1], -1)
        if len(shape) == 1:
            far, which = cupy.squeeze(far, 0), cupy.squeeze(which, 0)
        elif k == 1:
            far, which = cupy.squeeze(far, -1), cupy.squeeze(which, -1)
        return (far if cupy.isinf(p) else far ** (1.0 / p)), which

    def _within(self, x: Any, r: float, p: float, eps: float, in_order: bool) -> tuple[Any, Any]:
        """Of each point those in reach, a row as long as there are points; and how many."""
        cupy = _cupy()
        rows, _ = self._asked(x)
        count = rows.size // self.m
        which = cupy.full((count, self.n), self.n, dtype=cupy.int64)
        many = cupy.empty((count,), cupy.int64)
        radius = float(r)

        def reached(points: Any, which: Any, many: Any) -> None:
            found = self._found_by.query_ball_point(points.reshape(-1, self.m), radius, p, eps, return_sorted=in_order)
            for row, places in enumerate(found):
                which[row, : len(places)] = places
            many[...] = [len(places) for places in found]

        _fill("query_ball_point", reached, rows, which, many)
        return which, many

    def query_ball_point(
        self, x: Any, r: float, p: float = 2.0, eps: float = 0, return_sorted: Any = None, return_length: bool = False
    ) -> Any:
        """All points within a distance of each, as a list of arrays."""
        which, many = self._within(x, r, p, eps, return_sorted is None or bool(return_sorted))
        if return_length:
            return many
        cupy = _cupy()
        return cupy.array_split(which[which != self.n], many.cumsum().tolist())[: len(many)]

    def query_ball_tree(self, other: KDTree, r: float, p: float = 2.0, eps: float = 0.0) -> Any:
        """Of each point those of another tree within a distance."""
        return other.query_ball_point(self.data, r, p=p, eps=eps, return_sorted=True)

    def query_pairs(self, r: float, p: float = 2.0, eps: float = 0, output_type: str = "ndarray") -> Any:
        """All pairs of points within a distance."""
        if output_type == "set":
            warnings.warn(
                "output_type='set' is not supported by the GPU implementation of KDTree, resorting back to 'ndarray'."
            )
        which, many = self._within(self.data, r, p, eps, True)
        ends = many.cumsum()
        pairs = _cupy().empty((int(ends[-1]), 2), dtype=np.int64)

        def pair(which: Any, many: Any, pairs: Any) -> None:
            pairs[:, 0] = np.repeat(np.arange(self.n), many)
            pairs[:, 1] = which[which != self.n]

        _fill("query_pairs", pair, which, many, pairs)
        return pairs[pairs[:, 0] < pairs[:, 1]]

    def count_neighbors(
        self, other: KDTree, r: Any, p: float = 2.0, weights: Any = None, cumulative: bool = True
    ) -> None:
        raise NotImplementedError("count_neighbors is not available on CuPy")

    def sparse_distance_matrix(
        self, other: KDTree, max_distance: float, p: float = 2.0, output_type: str = "coo_matrix"
    ) -> Any:
        """All distances up to a greatest."""
        if output_type not in ("coo_matrix", "ndarray"):
            raise ValueError("sparse_distance_matrix only supports 'coo_matrix' and 'ndarray' outputs")
        found = distances.distance_matrix(self.data, other.data, p)
        found[found > max_distance] = 0
        if output_type == "ndarray":
            return found
        return importlib.import_module("cupyx.scipy.sparse").coo_matrix(found)


KDTree.__module__ = "cupyx.scipy.spatial"


def _refuse_but_doubles(points: Any) -> None:
    if points.dtype != np.float64:
        raise ValueError("periodic KDTree is only available on float64")


def _fill(name: str, function: Callable[..., None], *arrays: Any) -> None:
    """One kernel that writes to the last of these arrays."""

    def compute(*plain: Any) -> Any:
        function(*plain)
        return ()

    calls.run(f"{_NAME}.{name}", compute, calls.plain(arrays), {})
