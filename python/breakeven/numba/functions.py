"""Functions by name: what each costs, by the rows of `crates/breakeven/callables/flops.csv`.

`one` is an addition, a product, a comparison, a choice. Random numbers: xoroshiro128+ takes 14 operations on whole
numbers and 2 to make a fraction of them; a normal one comes of two (Box and Muller).
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

#: Names in `math`, `cmath` and NumPy, and what one result costs.
ELEMENTS: Mapping[str, Mapping[str, float]] = {
    **{
        name: {name: 1}
        for name in (
            *("sqrt", "cbrt", "hypot", "exp", "expm1", "exp2", "log", "log1p", "log2", "log10", "logaddexp"),
            *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh"),
            *("arcsinh", "arccosh", "arctanh", "sinc", "erf", "gamma", "reciprocal"),
        )
    },
    **{
        short: {name: 1}
        for short, name in (
            *(("asin", "arcsin"), ("acos", "arccos"), ("atan", "arctan"), ("atan2", "arctan2")),
            *(("asinh", "arcsinh"), ("acosh", "arccosh"), ("atanh", "arctanh"), ("lgamma", "loggamma")),
            *(("pow", "power"), ("power", "power"), ("float_power", "power"), ("erfc", "erf")),
            *(("divide", "divide"), ("true_divide", "divide"), ("floor_divide", "floor_divide")),
            *(("mod", "remainder"), ("fmod", "remainder"), ("remainder", "remainder"), ("divmod", "divmod")),
        )
    },
    **{
        name: {"one": 1}
        for name in (
            *("abs", "absolute", "fabs", "floor", "ceil", "trunc", "round", "rint", "around", "sign", "copysign"),
            *("add", "subtract", "multiply", "negative", "square", "maximum", "minimum", "fmax", "fmin", "max", "min"),
            *("isnan", "isinf", "isfinite", "deg2rad", "rad2deg", "radians", "degrees", "logical_and", "logical_or"),
            *("logical_not", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift"),
            *("right_shift", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "where"),
        )
    },
    "clip": {"clip": 1},
    "sincos": {"sin": 1, "cos": 1},
    "heaviside": {"one": 2},
}

_UNIFORM = {"one": 16}
_NORMAL = {"one": 34, "log": 1, "sqrt": 1, "cos": 1}
#: Names in `random` and `numpy.random`, for one number.
RANDOM: Mapping[str, Mapping[str, float]] = {
    **{name: _UNIFORM for name in ("random", "rand", "random_sample", "ranf", "sample", "uniform", "randint")},
    **{name: _UNIFORM for name in ("integers", "randrange", "getrandbits", "random_integers", "choice")},
    **{name: _NORMAL for name in ("normal", "randn", "standard_normal", "gauss", "normalvariate")},
    **{name: {"one": 16, "log": 1} for name in ("exponential", "expovariate", "standard_exponential")},
    **{name: {**_NORMAL, "exp": 1} for name in ("lognormal", "lognormvariate")},
    **{name: {"one": 40, "log": 2, "sqrt": 1} for name in ("gamma", "beta", "poisson", "binomial", "chisquare")},
}
#: They change the state of random numbers and give none.
SEEDS = ("seed", "set_state")

#: Functions that fold arrays, and what an element costs.
FOLDS: Mapping[str, Mapping[str, float]] = {
    **{name: {"one": 1} for name in ("sum", "prod", "max", "min", "amax", "amin", "any", "all", "argmax", "argmin")},
    **{name: {"one": 1} for name in ("mean", "nansum", "nanmax", "nanmin", "nanmean", "count_nonzero", "ptp")},
    **{name: {"one": 3} for name in ("var", "std", "nanvar", "nanstd")},
}
RUNNING = ("cumsum", "cumprod")
#: Functions that make an array of a shape, of a length, or like another.
FILLS = ("zeros", "empty", "ones", "full")
LIKE = ("zeros_like", "empty_like", "ones_like", "full_like")
COPIES = ("copy", "ascontiguousarray", "asfortranarray", "flip", "fliplr", "flipud", "roll", "array", "asarray")
#: They look at arrays and give views of them, or types.
VIEWS = ("ravel", "reshape", "transpose", "view", "swapaxes", "atleast_1d", "atleast_2d", "expand_dims", "squeeze")


#: Families of linear algebra by name: the kind, and how many operations one matrix of n columns takes within a thread.
FACTORS: Mapping[str, tuple[str, float]] = {
    "solve": ("solve", 2 / 3),
    "inv": ("inverse", 2.0),
    "det": ("det", 2 / 3),
    "slogdet": ("det", 2 / 3),
    "cholesky": ("cholesky", 1 / 3),
    "qr": ("qr", 4 / 3),
    "svd": ("svd", 20.0),
    "eig": ("eig", 25.0),
    "eigvals": ("eig", 10.0),
    "eigh": ("eigh", 9.0),
    "eigvalsh": ("eigvalsh", 4 / 3),
    "lstsq": ("lstsq", 8 / 3),
    "pinv": ("svd", 22.0),
    "matrix_rank": ("svdvals", 4.0),
    "cond": ("svdvals", 4.0),
}

_COMPLEX = {"add": {"one": 2.0}, "multiply": {"one": 6.0}, "divide": {"divide": 2.0, "one": 9.0}}


def of_complex(cost: Mapping[str, float], name: str) -> Mapping[str, float]:
    """The same of complex numbers, in operations on real ones."""
    if name in ("abs", "absolute"):
        return {"abs_complex": 1}
    if name in _COMPLEX:
        return _COMPLEX[name]
    if name in ("sqrt", "exp", "log", "sin", "cos"):
        return {"exp": 1, "sin": 1, "cos": 1, "one": 2}
    return {function: 2 * times for function, times in cost.items()}


def power(exponent: complex | None) -> Mapping[str, float]:
    """What `x ** exponent` costs where the exponent is known: products and roots."""
    if exponent is None or isinstance(exponent, complex):
        return {"power": 1}
    if exponent in (0.5, -0.5):
        return {"sqrt": 1} if exponent > 0 else {"sqrt": 1, "reciprocal": 1}
    whole = abs(int(exponent))
    if whole != abs(exponent) or whole > 64:
        return {"power": 1}
    products = math.floor(math.log2(whole)) + bin(whole).count("1") - 1 if whole else 0
    return {"one": products, **({"reciprocal": 1} if exponent < 0 else {})}
