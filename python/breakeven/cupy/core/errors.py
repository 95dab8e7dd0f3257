"""`cupyx.errstate`: what happens where a linear solve cannot succeed. Unless told, CuPy goes on with NaN."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import calls, shared

_NONE = {"divide": None, "over": None, "under": None, "invalid": None}
_state: dict[str, Any] = {**_NONE, "linalg": "ignore"}


def geterr() -> dict[str, Any]:
    """How errors are met now."""
    return dict(_state)


def seterr(**words: Any) -> dict[str, Any]:
    """Meet them otherwise; returns how it was."""
    before = dict(_state)
    if (linalg := words.get("linalg")) is not None:
        if linalg not in ("ignore", "raise"):
            raise NotImplementedError
        _state["linalg"] = linalg
    return before


class errstate:
    """The same for a block."""

    def __init__(self, **words: Any) -> None:
        self._words = words
        self._before: dict[str, Any] = {}

    def __enter__(self) -> None:
        self._before = seterr(**self._words)

    def __exit__(self, *error: object) -> None:
        _state.update(self._before)


#: How often functions of `cupy.linalg` ask cuSOLVER how it went: of one matrix, of many at once.
_ASKED = {
    **dict.fromkeys("solve tensorsolve".split(), (2, 1)), **dict.fromkeys("inv tensorinv".split(), (2, 2)),
    "cholesky": (1, 1), "qr": (2, 0), **dict.fromkeys("svd eigh eigvalsh lstsq pinv matrix_rank".split(), (1, 0)),
    **dict.fromkeys("eig eigvals".split(), (1, 1)),
}  # fmt: skip


def ask(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Reads how a function of `cupy.linalg` went, as often as CuPy does: not at all where errors are ignored."""
    if _state["linalg"] == "ignore" or name not in _ASKED or not calls.is_device(args[0]):
        return
    times = _ASKED[name][args[0].ndim > 2]
    if name == "qr" and (args[1] if len(args) > 1 else kwargs.get("mode")) == "r":
        times = 1
    for _ in range(times):
        state = calls.wrapped(shared.quietly(np.zeros, 1, np.int32))
        bool((state != 0).any())


def unsolved(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's function, with NaN where it finds that there is no solution."""

    def solve(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except np.linalg.LinAlgError as error:
            hopeless = "ingular" in str(error) or "positive definite" in str(error)
            if not hopeless or _state["linalg"] == "raise":
                raise
            last = np.asarray(args[-1])
            return np.full(last.shape, np.nan, np.result_type(last, np.float32))

    return solve


def complexly(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's eigenvalues, complex whatever they are."""

    def find(a: Any) -> Any:
        found = function(a)
        kind = np.result_type(a, np.complex64)
        return found.astype(kind) if isinstance(found, np.ndarray) else tuple(item.astype(kind) for item in found)

    return find


def singular(function: Callable[..., Any]) -> Callable[..., Any]:
    """SciPy's `lu_factor`, which warns as CuPy does of a zero on the diagonal."""

    def factor(*args: Any, **kwargs: Any) -> Any:
        found = without_warnings(function)(*args, **kwargs)
        zeros = np.flatnonzero(np.diagonal(found[0]) == 0)
        if zeros.size:
            text = f"Diagonal number {zeros[0] + 1} is exactly zero. Singular matrix."
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        return found

    return factor


def without_warnings(function: Callable[..., Any]) -> Callable[..., Any]:
    """SciPy's function without what it says of numbers: a GPU says nothing."""

    def call(*args: Any, **kwargs: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args, **kwargs)

    return call


CHANGED = {
    **dict.fromkeys(("inv", "solve", "cholesky", "tensorsolve", "tensorinv"), unsolved),
    **dict.fromkeys(("eig", "eigvals"), complexly),
}
#: The same of SciPy's functions, by their public names.
SCIPYS = {
    "cupyx.scipy.linalg.lu_factor": singular,
    **dict.fromkeys(("cupyx.scipy.stats.zscore", "cupyx.scipy.stats.zmap"), without_warnings),
}
