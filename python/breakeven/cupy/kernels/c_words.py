"""The words of C that kernels may use: types, constants, operators and functions, as NumPy has them."""

from __future__ import annotations

import importlib
import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

TYPES: dict[str, Any] = {
    "float": np.float32, "double": np.float64, "int": np.int32, "long": np.int64, "bool": np.bool_, "char": np.int8,
    "short": np.int16, "size_t": np.int64, "ptrdiff_t": np.int64, "float16": np.float16,
    **{name: getattr(np, name) for name in "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()},
    **{f"{name}_t": getattr(np, name) for name in "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()},
    **{name: getattr(np, name) for name in "complex64 complex128".split()},
}  # fmt: skip
UNSIGNED = {"char": np.uint8, "short": np.uint16, "int": np.uint32, "long": np.uint64}

CONSTANTS: dict[str, Any] = {
    "true": True, "false": False, "M_PI": math.pi, "M_PI_2": math.pi / 2, "M_PI_4": math.pi / 4, "M_1_PI": 1 / math.pi,
    "M_2_PI": 2 / math.pi, "M_2_SQRTPI": 2 / math.sqrt(math.pi), "M_E": math.e, "M_LOG2E": math.log2(math.e),
    "M_LOG10E": math.log10(math.e), "M_LN2": math.log(2), "M_LN10": math.log(10), "M_SQRT2": math.sqrt(2),
    "M_SQRT1_2": math.sqrt(0.5), "INFINITY": np.float32("inf"), "NAN": np.float32("nan"), "CUDART_INF": math.inf,
    "CUDART_NAN": math.nan, "CUDART_PI": math.pi,
}  # fmt: skip

LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip


def is_whole(value: Any) -> bool:
    """Whether it is a whole number, or numbers."""
    return isinstance(value, (bool, int)) or (isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "iub")


def promoted(value: Any) -> Any:
    """Whole numbers shorter than an `int` are computed with as such."""
    if isinstance(value, (bool, int)):
        if abs(value) >= 2**63:
            return np.uint64(value)
        return np.int32(value) if abs(value) < 2**31 else np.int64(value)
    return value.astype(np.int32) if value.dtype.itemsize < 4 else value


def _alike(a: Any, b: Any) -> tuple[Any, Any]:
    """Two numbers as C makes them of one type: of two whole ones of the same length the unsigned type counts."""
    if not (is_whole(a) and is_whole(b)):
        return a, b
    a, b = promoted(a), promoted(b)
    for one, other in ((a, b), (b, a)):
        if one.dtype.kind == "u" and other.dtype.kind == "i" and one.dtype.itemsize >= other.dtype.itemsize:
            return a.astype(one.dtype), b.astype(one.dtype)
    return a, b


def _of_alike(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: function(*_alike(a, b))


def _divide(a: Any, b: Any) -> Any:
    if is_whole(a) and is_whole(b):
        return (a - np.fmod(a, b)) // b  # towards zero
    return a / b


def _shift(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    def shift(a: Any, by: Any) -> Any:
        a = promoted(a)
        return function(a, np.asarray(by).astype(a.dtype))

    return shift


def _of_whole(function: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda value: function(promoted(value) if is_whole(value) else value)


_ON_ALIKE: dict[str, Callable[..., Any]] = {
    "|": np.bitwise_or, "^": np.bitwise_xor, "&": np.bitwise_and, "==": np.equal, "!=": np.not_equal, "<": np.less,
    ">": np.greater, "<=": np.less_equal, ">=": np.greater_equal, "+": np.add, "-": np.subtract, "*": np.multiply,
    "/": _divide, "%": np.fmod,
}  # fmt: skip
OPERATORS: dict[str, Callable[..., Any]] = {
    "||": np.logical_or, "&&": np.logical_and, "<<": _shift(np.left_shift), ">>": _shift(np.right_shift),
    **{sign: _of_alike(function) for sign, function in _ON_ALIKE.items()},
}  # fmt: skip
UNARY: dict[str, Callable[..., Any]] = {
    "-": _of_whole(np.negative), "+": _of_whole(np.positive), "!": np.logical_not, "~": _of_whole(np.invert),
}  # fmt: skip
ATOMIC = {"atomicAdd": np.add, "atomicMax": np.maximum, "atomicMin": np.minimum, "atomicSub": np.subtract}


def _of_each(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """A function of Python's on whole arrays, in the precision of what it is given."""

    def whole(x: Any) -> Any:
        given = np.asarray(x)
        found = np.asarray(np.vectorize(function, otypes=[float])(given))
        return found.astype(np.float32) if given.dtype == np.float32 else found

    return whole


def _special(name: str, function: Callable[[float], float]) -> Callable[[Any], Any]:
    """A function of SciPy's; Python's on each element where SciPy is not there."""
    slowly = _of_each(function)

    def whole(x: Any) -> Any:
        try:
            special = importlib.import_module("scipy.special")
        except ImportError:
            return slowly(x)
        return getattr(special, name)(x)

    return whole


def _quantile(p: float) -> float:
    """Below which value of a normal distribution so much lies."""
    return (
        statistics.NormalDist().inv_cdf(p) if 0 < p < 1 else math.inf if p == 1 else -math.inf if p == 0 else math.nan
    )


_erf, _erfc = _special("erf", math.erf), _special("erfc", math.erfc)

#: What C calls them: NumPy's function, and the name of its cost.
FUNCTIONS: dict[str, tuple[Callable[..., Any], str]] = {
    **{name: (getattr(np, name), name) for name in "exp expm1 exp2 log log1p log2 log10 sqrt cbrt sin cos tan".split()},
    **{name: (getattr(np, name), name) for name in "sinh cosh tanh hypot".split()},
    **{name: (getattr(np, "arc" + name[1:]), "arc" + name[1:]) for name in "asin acos atan asinh acosh atanh".split()},
    **{name: (getattr(np, name), "one") for name in "floor ceil trunc rint isnan isinf isfinite signbit".split()},
    **{name: (getattr(np, name), "one") for name in "conj real imag".split()},
    **dict.fromkeys(("abs", "fabs"), (np.abs, "one")),
    **dict.fromkeys(("min", "fmin"), (np.minimum, "two")),
    **dict.fromkeys(("max", "fmax"), (np.maximum, "two")),
    "arg": (np.angle, "arctan2"),
    "polar": (lambda length, angle: length * np.exp(1j * np.asarray(angle)), "exp"),
    "cyl_bessel_i0": (np.i0, "i0"),
    "norm": (lambda z: np.real(z) ** 2 + np.imag(z) ** 2, "norm"),
    "atan2": (np.arctan2, "arctan2"),
    "pow": (np.power, "power"),
    "exp10": (lambda x: np.power(10.0, x), "power"),
    "fmod": (np.fmod, "remainder"),
    "fdim": (lambda a, b: np.maximum(a - b, 0), "two"),
    "ldexp": (np.ldexp, "two"),
    "rsqrt": (lambda x: 1 / np.sqrt(x), "reciprocal"),
    "rcbrt": (lambda x: 1 / np.cbrt(x), "cbrt"),
    # half-way values away from zero, unlike NumPy's
    "round": (lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), "one"),
    "sinpi": (lambda x: np.sin(np.pi * x), "sin"),
    "cospi": (lambda x: np.cos(np.pi * x), "cos"),
    "erf": (_erf, "erf"),
    "erfc": (_erfc, "erf"),
    "erfinv": (_special("erfinv", lambda x: _quantile((x + 1) / 2) / math.sqrt(2)), "erfinv"),
    "erfcinv": (_special("erfcinv", lambda x: -_quantile(x / 2) / math.sqrt(2)), "erfinv"),
    "normcdfinv": (_special("ndtri", _quantile), "erfinv"),
    "normcdf": (lambda x: 0.5 * _erfc(-x / np.sqrt(np.float32(2) if np.asarray(x).dtype == np.float32 else 2)), "erf"),
    "tgamma": (_special("gamma", math.gamma), "gamma"),
    "lgamma": (_special("gammaln", math.lgamma), "loggamma"),
    "fma": (lambda a, b, c: a * b + c, "fma"),
    "copysign": (np.copysign, "two"),
    "__fdividef": (np.divide, "divide"),
    "__powf": (np.power, "power"),
    **{f"__{name}f": (getattr(np, name), name) for name in "exp log log2 log10 sin cos tan".split()},
}
#: What can be asked of a complex number, of a raw parameter and of the index of a kernel.
METHODS: dict[str, Callable[..., Any]] = {
    "real": np.real,
    "imag": np.imag,
    "size": np.size,
    "ndim": np.ndim,
    "shape": np.shape,
    "strides": lambda array: array.strides,
    "get": lambda index: tuple(np.indices(index.shape)),
}
