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
        "nonzero ndarray.nonzero flatnonzero argwhere extract compress ndarray.compress unique unique_all "
        "unique_counts "
        "unique_inverse unique_values bincount histogram2d linalg.svd linalg.eigh linalg.eigvalsh linalg.lstsq "
        "linalg.pinv "
        "linalg.matrix_rank random.randint nanmax nanmin polyfit union1d intersect1d setdiff1d choose ndarray.choose "
        "unravel_index delete trim_zeros argpartition ndarray.argpartition place linalg.eig linalg.eigvals linalg.cond "
        "tril_indices triu_indices tril_indices_from triu_indices_from mask_indices real_if_close histogramdd setxor1d "
        "polymul asarray_chkfinite "
        "random.random_integers random.exponential random.rayleigh random.triangular random.weibull random.zipf "
        "random.power random.negative_binomial random.multinomial"
    ).split()
) | frozenset(
    f"cupyx.scipy.{name}"
    for name in (
        "linalg.lu_factor ndimage.label ndimage.binary_erosion ndimage.binary_dilation ndimage.binary_opening "
        "ndimage.binary_closing "
        "ndimage.binary_fill_holes ndimage.binary_propagation ndimage.binary_hit_or_miss ndimage.iterate_structure "
        "ndimage.rotate signal.order_filter signal.sosfilt signal.butter signal.firwin "
        "signal.detrend signal.resample_poly signal.decimate signal.savgol_filter signal.find_peaks signal.argrelmax "
        "signal.argrelmin signal.argrelextrema signal.istft sparse.hstack sparse.bmat sparse.kron sparse.kronsum "
        "sparse.tril sparse.triu sparse.find sparse.random sparse.rand sparse.eye sparse.identity sparse.diags "
        "sparse.spdiags sparse.linalg.spsolve sparse.linalg.spsolve_triangular "
        "sparse.linalg.spilu sparse.linalg.SuperLU.solve linalg.lu linalg.expm linalg.bandwidth "
        "stats.zscore stats.zmap stats.boxcox_llf special.logsumexp special.log_softmax fft.fht interpolate.interpn "
        "interpolate.make_interp_spline interpolate.barycentric_interpolate interpolate.UnivariateSpline "
        "interpolate.RegularGridInterpolator.__call__ interpolate.RBFInterpolator interpolate.PchipInterpolator "
        "interpolate.CubicSpline interpolate.BarycentricInterpolator interpolate.Akima1DInterpolator"
    ).split()
)
#: Many matrices at once are left to the device.
_BATCHED = frozenset(["cupy.linalg.svd", "cupy.linalg.eigh", "cupy.linalg.eigvalsh"])
#: Methods of sparse matrices: those that must be told how many elements the result has.
_SPARSE = frozenset(
    "toarray todense tocsc setdiag count_nonzero eliminate_zeros nonzero maximum minimum getrow "
    "getcol asformat __getitem__ __setitem__ __add__ __radd__ __sub__ __rsub__ __pow__ __eq__ __ne__ __gt__ __lt__ "
    "__ge__ __le__".split()
)


def waits(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the host waits for what this call has put on the device."""
    if name in _ALWAYS:
        return not (name in _BATCHED and args[0].ndim > 2)
    if name.startswith("cupyx.scipy.sparse."):
        return name.rpartition(".")[2] in _SPARSE
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
