"""Kernels that one call of CuPy's launches, where they are not those of the work alone.

Counted on an H100 with CuPy 14.2 (`accuracy/measured/h100-sxm-cupy-launches.csv`), copies and fills of zeros by the
driver left out. Names that are missing here are counted by the engine. Where a rule gives 0 it does not know.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _native

_Rule = int | Callable[[tuple[Any, ...], dict[str, Any]], int]

#: Bytes that one block of CUB's folds, and sorts: what is no more takes one kernel.
_FOLDED_ALONE, _SORTED_ALONE = 16_384, 19_456
#: Elements that one block of Thrust's merge sort puts in order.
_MERGED_ALONE = 1024
#: So many arrays are joined by a copy of each; more by one kernel, where each has fewer bytes than this.
_JOINED_EACH, _JOINED_TOGETHER = 8, 2 << 20
#: Rows up to which cuSOLVER factorises in one kernel, or was counted at all.
_SMALL = 256


def counted(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """Launches of a call with these plain arguments; 0 where they are not known."""
    rule = _RULES.get(name.removeprefix("cupy.").removeprefix("ndarray."))
    if rule is None or isinstance(rule, int):
        return rule or 0
    try:
        return rule(args, kwargs)
    except Exception as error:  # arguments that no rule is about: NumPy has taken them
        if _native.of_script(error):
            raise
        return 0


def _word(args: tuple[Any, ...], kwargs: dict[str, Any], place: int, name: str, otherwise: Any = None) -> Any:
    return args[place] if len(args) > place else kwargs.get(name, otherwise)


# Folds ---------------------------------------------------------------------------------------------------------------


def _by_cub(array: Any, axis: Any) -> bool:
    """Whether CUB folds it: all of it, or rows of the last axes, where they lie in one piece."""
    if not array.flags.c_contiguous:
        return bool(array.flags.f_contiguous and axis is None)
    if axis is None:
        return True
    axes = sorted(one % array.ndim for one in (axis if isinstance(axis, tuple) else (axis,)))
    return axes == list(range(array.ndim - len(axes), array.ndim))


def _is_whole(array: Any, axis: Any) -> bool:
    return axis is None or array.ndim == len(axis if isinstance(axis, tuple) else (axis,))


def _folds(array: Any, axis: Any = None) -> int:
    """A fold to one value goes by parts."""
    parts = _by_cub(array, axis) and _is_whole(array, axis) and array.nbytes > _FOLDED_ALONE
    return 2 if parts else 1


def _truth(array: Any, axis: Any = None) -> int:
    """Truth values are folded with an iterator, in two kernels however few they are."""
    return 2 if _by_cub(array, axis) and _is_whole(array, axis) else 1


def _mean(array: Any, axis: Any = None) -> int:
    """CUB gives a sum, CuPy's own kernel divides at once."""
    return _folds(array, axis) + _by_cub(array, axis)


def _of_axis(count: Callable[[Any, Any], int], more: int = 0, times: int = 1) -> _Rule:
    return lambda args, kwargs: times * count(args[0], _word(args, kwargs, 1, "axis")) + more


def _arg(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    axis = _word(args, kwargs, 1, "axis")
    return _folds(args[0], axis) + _is_whole(args[0], axis)


def _average(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    axis, weights = _word(args, kwargs, 1, "axis"), _word(args, kwargs, 2, "weights")
    if weights is None:
        return _mean(args[0], axis)
    # The sum of the weights, whether it is zero, the products, their sum, the quotient.
    return _folds(weights) + 2 + 1 + _folds(args[0], axis) + 1


def _norm(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    array, order, axis = args[0], _word(args, kwargs, 1, "ord"), _word(args, kwargs, 2, "axis")
    if order is None and axis is None:
        return 2 + _folds(array)
    if order in (None, 2) and isinstance(axis, int):
        return 1
    if array.ndim == 1 and axis is None:
        return 1 + _folds(array) if order in (math.inf, -math.inf, 1) else 2 + _folds(array)
    if array.ndim == 2 and axis is None and order in (1, -1, math.inf, -math.inf):
        return 3
    return _values_alone((array,), {}) + 1 if array.ndim == 2 and order in (2, -2) else 0


def _scan(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    axis = _word(args, kwargs, 1, "axis")
    return 3 if args[0].ndim == 1 or axis is None else 4


# Order ---------------------------------------------------------------------------------------------------------------


def _radix(n: int, bytes: int) -> int:
    """A digit of eight bits a pass, after the counts of all digits and their sums."""
    return 1 if n * bytes <= _SORTED_ALONE else 2 + bytes


def _merging(n: int) -> int:
    """Blocks in order, then where pieces meet, and their merge, as often as they double."""
    return 1 + 2 * max(0, math.ceil(math.log2(n / _MERGED_ALONE))) if n else 1


def _ordered(array: Any, axis: Any) -> int:
    """In place: rows are merged as pairs of their number and a key."""
    if array.ndim == 1 or axis is None:
        return _radix(array.size, array.itemsize)
    return 1 + _merging(array.size) + _turned(array, axis)


def _sort(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return 1 + _ordered(args[0], _word(args, kwargs, 1, "axis", -1))


def _sort_in_place(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return _ordered(args[0], _word(args, kwargs, 1, "axis", -1))


def _argsort(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return 1 + _sort(args, kwargs)


def _lexsort(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    keys = args[0]
    return 1 + len(keys) * _merging(keys[0].size)


def _tree(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """Each level sorts by one dimension, takes points, tags and places in that order, and tags anew.

    In a box each has its bounds worked out, too.
    """
    n = len(args[0])
    levels, sorting = int(math.log2(n)), 2 + 1 + 2 * _merging(n)
    return 3 + levels * (sorting + 4) + sorting + 2 + bool(kwargs["in_box"]) * (levels + 1)


def _turned(array: Any, axis: Any) -> int:
    """Another axis than the last is copied to be it, and back."""
    return 0 if axis is None or axis % array.ndim == array.ndim - 1 else 2


def _parted(array: Any, place: int, axis: Any) -> int:
    """Blocks keep the least of their own, pairs of blocks those of both, until there is one; for many all are
    sorted."""
    row = array.size if axis is None else array.shape[axis]
    least = 1 << int(place).bit_length()
    if least > 1024:
        return 1 + _ordered(array, axis)
    return 2 + max(0, math.ceil(math.log2(row / (16 * least)))) + _turned(array, axis)


def _partition(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    kth = _word(args, kwargs, 1, "kth")
    return _parted(args[0], max(kth) if isinstance(kth, (list, tuple)) else kth, _word(args, kwargs, 2, "axis", -1))


def _argpartition(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return _partition(args, kwargs) + 8  # whether places lie within, twice, with what they are within


def _median(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    array, axis = args[0], _word(args, kwargs, 1, "axis")
    if not isinstance(axis, int) and axis is not None:
        return 0
    row = array.size if axis is None else array.shape[axis]
    return _parted(array, row // 2, axis) + (4 if axis is None else 3)


def _quantile(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return 1 + _ordered(args[0], _word(args, kwargs, 2, "axis")) + 3


def _distinct(n: int, bytes: int) -> int:
    """A sort, marks where neighbours differ, and the places of the marks."""
    return 1 + _radix(n, bytes) + 4 + _places(n)


def _unique(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    asked = ("return_index", "return_inverse", "return_counts")
    more = sum(bool(_word(args, kwargs, place, name)) for place, name in enumerate(asked, 1))
    return _distinct(args[0].size, args[0].itemsize) + 7 * more


def _is_in(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return 2 + _radix(args[1].size, args[1].itemsize)


def _of_both(more: int) -> _Rule:
    return lambda args, kwargs: sum(_distinct(part.size, part.itemsize) for part in args[:2]) + more


def _union(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return 2 + _distinct(args[0].size + args[1].size, args[0].itemsize)


# Places --------------------------------------------------------------------------------------------------------------


def _levels(n: int) -> int:
    """How often sums of blocks of 1024 are summed."""
    return max(1, math.ceil(math.log(n, 1024))) if n > 1 else 1


def _places(n: int) -> int:
    """Sums of blocks, scans of these, the places."""
    return 2 * _levels(n) + 1


def _nonzero(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return _places(args[0].size) + int(args[0].dtype.kind != "b")


def _where(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return _nonzero(args, kwargs) if len(args) == 1 and not kwargs else 0


def _masked(mask: Any) -> int:
    return 2 * _levels(mask.size) + 2


def _extract(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return _masked(next(part for part in args[1:] if part.dtype.kind == "b"))


def _compress(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    kept = next(part for part in args if isinstance(part, np.ndarray) and part.dtype.kind == "b")
    return _places(kept.size) + 1


def _get(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """Several arrays of places are made one first."""
    return len(args) if len(args) > 2 else 0


def _set(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """With places, a number becomes an array first."""
    places = [part for part in args[1:] if part.dtype.kind in "iub"]
    if not places:
        return 0
    if places[0].dtype.kind == "b":
        return _masked(places[0]) + (args[-1] is places[0])
    return (len(places) if len(places) > 1 else 0) + 1 + (args[-1] is places[-1])


def _scatter(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return 1 if isinstance(args[-1], np.ndarray) else 2


# Arrays from others --------------------------------------------------------------------------------------------------


def _joined(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """Each array is a copy; many small ones of one type are joined by one kernel."""
    arrays = args[0]
    together = (
        len(arrays) > _JOINED_EACH
        and len({array.dtype for array in arrays}) == 1
        and sum(array.nbytes for array in arrays) < len(arrays) * _JOINED_TOGETHER
    )
    return 1 if together else len(arrays)


def _padded(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return 1 if _word(args, kwargs, 2, "mode", "constant") in ("constant", "empty") else 1 + 3 * args[0].ndim


def _of_dims(each: int, more: int = 0) -> _Rule:
    return lambda args, kwargs: each * args[0].ndim + more


def _gradient(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    axis = kwargs.get("axis")
    return 6 * (args[0].ndim if axis is None else len(axis) if isinstance(axis, tuple) else 1)


def _shifted(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    axes = _word(args, kwargs, 1, "axes")
    return int(2 ** (args[0].ndim if axes is None else len(axes) if isinstance(axes, (tuple, list)) else 1))


def _bincount(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return 3 + _folds(args[0]) + (2 if _word(args, kwargs, 1, "weights") is None else 1)


def _histogram(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return 8 if _word(args, kwargs, 2, "range") is not None else 15 + 2 * _folds(args[0])


def _rolled(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """Each axis that is shifted is two pieces; a copy for each piece of the whole."""
    array, shift, axis = args[0], _word(args, kwargs, 1, "shift"), _word(args, kwargs, 2, "axis")
    if isinstance(shift, np.ndarray):
        return 0
    shifts: dict[int, int] = {}
    for by, at in np.broadcast(shift, 0 if axis is None else axis):
        shifts[at % array.ndim] = shifts.get(at % array.ndim, 0) + int(by)
    lengths = (array.size,) if axis is None else array.shape
    return int(2 ** sum(1 for at, by in shifts.items() if lengths[at] and by % lengths[at]))


# Products ------------------------------------------------------------------------------------------------------------


def _product(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """Vectors by a product of elements and a fold; the types of matrices are made one first."""
    a, b = args[0], args[1]
    if a.ndim == b.ndim == 1:
        return 2 + _folds(a)
    if a.dtype.kind not in "fc" and b.dtype.kind not in "fc":
        return 0
    common = np.result_type(a, b)
    return 1 + int(a.dtype != common) + int(b.dtype != common)


def _einsum(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """A fold of the elements' products where no letter is of one array alone, else copies for a product of matrices."""
    of_arrays, _, result = args[0].replace(" ", "").partition("->")
    letters = of_arrays.split(",")
    if len(letters) == 1:
        folded = len(set(letters[0])) > len(result)
        return 1 if folded else 0
    if len(letters) != 2:
        return 0
    return 3 if set(letters[0]) ^ set(letters[1]) else 1


def _of_small(kernels: int, many: int = 0) -> _Rule:
    """Factorisations were counted at 200 rows, and many at once at 100."""

    def count(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
        if args[0].ndim > 2:
            return many
        return kernels if max(args[0].shape) <= _SMALL else 0

    return count


def _values_alone(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """Both sides are reflected column by column, each in kernels of its own: 2344 at 200 columns."""
    return round(11.72 * min(args[0].shape)) if args[0].ndim == 2 else 0


def _svd(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    if not _word(args, kwargs, 2, "compute_uv", True):
        return _values_alone(args, kwargs)
    return _values_and_vectors(0)(args, kwargs)


def _values_and_vectors(more: int) -> Callable[[tuple[Any, ...], dict[str, Any]], int]:
    return lambda args, kwargs: round(15.71 * min(args[0].shape)) + more if args[0].ndim == 2 else 0


def _rank(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return _values_alone(args, kwargs) + 6 if args[0].ndim == 2 else 0


def _sparse(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """The matrix is three arrays: by a vector, by columns, or by another matrix of three."""
    operand = args[3:]
    return 30 if len(operand) > 1 else 2 if operand[0].ndim == 1 else 4


# Transforms ----------------------------------------------------------------------------------------------------------


def _passes(n: int) -> int:
    return 1 if n <= 1 << 13 else 2 if n <= 1 << 16 else 3


def _complex(dims: int, inverse: bool) -> _Rule:
    """A copy to complex numbers, the passes, and by how many the inverse divides."""

    def count(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
        array = args[0]
        if dims == 1:
            passes = _passes(_word(args, kwargs, 1, "n") or array.shape[_word(args, kwargs, 2, "axis", -1)])
        else:
            sizes = array.shape[-2:] if dims == 2 else array.shape
            passes = 2 * sum(_passes(size) for size in sizes) - 1
        return passes + int(array.dtype.kind != "c") + inverse

    return count


def _to_half(n: int) -> int:
    return _passes(n) + (_passes(n) > 1)


def _from_half(n: int) -> int:
    return _passes(n) + (_passes(n) > 1) + 2


def _real(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return _to_half(_word(args, kwargs, 1, "n") or args[0].shape[_word(args, kwargs, 2, "axis", -1)])


def _real_inverse(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return _from_half(_word(args, kwargs, 1, "n") or 2 * (args[0].shape[_word(args, kwargs, 2, "axis", -1)] - 1))


def _convolved(more: int) -> _Rule:
    """By transforms of both, a product, and its inverse."""

    def count(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
        a, b = args[0], args[1]
        if a.ndim != 1 or min(a.size, b.size) < 2 or a.size * b.size < 1 << 20:
            return 0
        n = a.size + b.size - 1
        return 2 * _to_half(n) + 1 + _from_half(n) + more

    return count


# Random numbers ------------------------------------------------------------------------------------------------------


def _permuted(more: int) -> _Rule:
    def count(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
        n = args[0] if isinstance(args[0], int) else len(args[0])
        return 3 + _radix(n, 4) + more

    return count


def _names(prefix: str, names: str, rule: _Rule) -> dict[str, _Rule]:
    return {prefix + name: rule for name in names.split()}


_RULES: dict[str, _Rule] = {
    **_names("", "mean", _of_axis(_mean)),
    **_names("", "var", _of_axis(_mean, 2)), **_names("", "std", _of_axis(_mean, 3)),
    **_names("", "sum prod max min amax amin nansum nanprod", _of_axis(_folds)),
    **_names("", "any all count_nonzero", _of_axis(_truth)),
    **_names("", "nanmean", _of_axis(_folds)), **_names("", "nanvar", _of_axis(_folds, 1, 2)),
    **_names("", "nanstd", _of_axis(_folds, 2, 2)), **_names("", "nanmax nanmin", _of_axis(_folds, 2)),
    **_names("", "ptp", _of_axis(_folds, 1, 2)), **_names("", "argmax argmin", _arg),
    "average": _average, "linalg.norm": _norm, "array_equal": 3,
    "trapezoid": lambda args, kwargs: 3 + _folds(args[0]),
    **_names("", "cumsum cumprod", _scan),
    "sort": _sort, "argsort": _argsort, "lexsort": _lexsort, "partition": _partition, "argpartition": _argpartition,
    "median": _median, **_names("", "percentile quantile", _quantile), "unique": _unique,
    "isin": _is_in, "setdiff1d": _of_both(7), "intersect1d": _of_both(6), "union1d": _union,
    **_names("", "nonzero flatnonzero argwhere", _nonzero), "where": _where, "extract": _extract, "compress": _compress,
    "__getitem__": _get, "__setitem__": _set, "take_along_axis": _of_dims(1, 2), "choose": 7,
    **_names("", "add.at subtract.at maximum.at minimum.at", _scatter),
    **_names("cupyx.", "scatter_add scatter_max scatter_min", _scatter),
    **_names("", "concatenate stack vstack hstack dstack column_stack", _joined), "pad": _padded, "roll": _rolled,
    "tril": 2, "triu": 2, "eye": 1, "identity": 1, "linspace": 2, "logspace": 3, "nan_to_num": 3, "kron": 1,
    "indices": lambda args, kwargs: 2 * len(args[0]), "gradient": _gradient, "triu_indices": 18, "tril_indices": 17,
    "ravel_multi_index": lambda args, kwargs: 3 * len(args[0]),
    "unravel_index": lambda args, kwargs: 6 + 2 * len(_word(args, kwargs, 1, "shape")),
    "bincount": _bincount, "histogram": _histogram, "histogram2d": 64,
    **_names("", "add.outer subtract.outer multiply.outer divide.outer", 3),
    **_names("", "dot matmul", _product), "vdot": lambda args, kwargs: 2 + _folds(args[0]),
    **_names("", "inner tensordot", 1), "einsum": _einsum,
    "linalg.solve": _of_small(14, 16), "linalg.inv": _of_small(24, 5), "linalg.det": _of_small(23),
    "linalg.slogdet": _of_small(21), "linalg.cholesky": _of_small(23), "linalg.qr": _of_small(29),
    "linalg.eigh": _of_small(69), "linalg.eigvalsh": _of_small(46), "linalg.svd": _svd,
    "linalg.pinv": _values_and_vectors(7), "linalg.lstsq": _values_and_vectors(14), "linalg.matrix_rank": _rank,
    **_names("fft.", "fft", _complex(1, False)), **_names("fft.", "ifft", _complex(1, True)),
    **_names("fft.", "fft2", _complex(2, False)), **_names("fft.", "ifft2", _complex(2, True)),
    "fft.rfft": _real, "fft.irfft": _real_inverse, "fft.fftshift": _shifted, "fft.ifftshift": _shifted,
    "fft.fftfreq": 5,
    "convolve": _convolved(0), "correlate": _convolved(1), "corrcoef": 15, "cov": 10, "polyval": 4,
    **_names("random.", "randint choice", 9), "random.uniform": 3,
    "random.permutation": _permuted(0), "random.shuffle": _permuted(1), "random.Generator.integers": 2,
    "cupyx.scipy.sparse.csr_matvec": _sparse, "cupyx.scipy.fft.dct": 6,
    **_names("cupyx.scipy.ndimage.", "gaussian_filter sobel prewitt", _of_dims(1)),
    **_names("cupyx.scipy.ndimage.", "uniform_filter laplace", _of_dims(1, 1)),
    **_names("cupyx.scipy.ndimage.", "maximum_filter minimum_filter", _of_dims(2)),
    **_names("cupyx.scipy.ndimage.", "convolve correlate median_filter binary_erosion binary_dilation", 2),
    **_names("cupyx.scipy.ndimage.", "zoom shift map_coordinates affine_transform", 7),
    "cupyx.scipy.ndimage.rotate": 9, "cupyx.scipy.ndimage.label": 12, "cupyx.scipy.ndimage.sum": 9,
    "cupyx.scipy.ndimage.fourier_gaussian": _of_dims(9, 1),
    **_names("cupyx.scipy.signal.", "convolve2d correlate2d medfilt", 2),
    **_names("cupyx.scipy.signal.", "convolve fftconvolve", _convolved(0)),
    "cupyx.scipy.signal.lfilter": 14, "cupyx.scipy.signal.hilbert": 12, "cupyx.scipy.signal.welch": 19,
    "cupyx.scipy.signal.savgol_filter": 205, "cupyx.scipy.special.logsumexp": 11,
    "cupyx.scipy.linalg.lu_factor": _of_small(13), "cupyx.scipy.linalg.lu": _of_small(17),
    "cupyx.scipy.linalg.solve_triangular": 4, "cupyx.scipy.spatial.KDTree": _tree,
    **_names("cupyx.scipy.spatial.KDTree.", "query query_ball_point query_pairs", 1),
}  # fmt: skip
