"""`cupy.random`: NumPy's generators, so the numbers are not those of a GPU."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import calls, shared
from ..core.imagined import gpu


class State:
    """What changes while the script runs."""

    state: RandomState | None = None


kept = State()


_LEGACY = (
    "beta binomial bytes chisquare choice dirichlet exponential f gamma geometric gumbel hypergeometric laplace "
    "logistic "
    "lognormal logseries multinomial multivariate_normal negative_binomial noncentral_chisquare noncentral_f normal "
    "pareto "
    "permutation poisson power rand randint randn random_integers random_sample rayleigh shuffle standard_cauchy "
    "standard_exponential standard_gamma standard_normal standard_t tomaxint triangular uniform vonmises wald weibull "
    "zipf"
)
_GENERATOR = (
    "beta binomial chisquare dirichlet exponential f gamma geometric hypergeometric integers logseries poisson power "
    "random "
    "standard_exponential standard_gamma standard_normal uniform"
)


class _Draws:
    """Methods of a generator of NumPy's, with results on the device."""

    _source: Any
    _names: frozenset[str]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._names:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        method = _method(f"cupy.random.{type(self).__name__}.{name}", getattr(self._source, name))
        method.__self__ = self  # type: ignore[attr-defined]
        return method


class RandomState(_Draws):
    """`cupy.random.RandomState`."""

    __module__ = "cupy.random"
    _names = frozenset(_LEGACY.split())

    def __init__(self, seed: Any = None, method: int = 100) -> None:
        self._source = shared.quietly(np.random.RandomState, _seed(seed))

    def seed(self, seed: Any = None) -> None:
        shared.quietly(self._source.seed, _seed(seed))


class Generator(_Draws):
    """`cupy.random.Generator`."""

    __module__ = "cupy.random"
    _names = frozenset(_GENERATOR.split())

    def __init__(self, bit_generator: Any = None) -> None:
        self._source = shared.quietly(np.random.default_rng, getattr(bit_generator, "_seed", bit_generator))
        # the states of as many threads as the device runs, 48 bytes each
        self._states = calls.wrapped(shared.quietly(np.empty, gpu.units * 2048 * 48, np.uint8))
        self.bit_generator = bit_generator if isinstance(bit_generator, _BitGenerator) else _BitGenerator(bit_generator)


class _BitGenerator:
    def __init__(self, seed: Any = None, *, size: int = -1) -> None:
        self._seed = seed


def _seed(seed: Any) -> Any:
    if seed is None:
        return None
    if isinstance(seed, np.ndarray):
        return int(hashlib.md5(seed.tobytes(), usedforsecurity=False).hexdigest()[:8], 16)
    if np.asarray(seed).dtype.kind not in "biu":
        raise TypeError("Seed must be an integer.")
    if not 0 <= int(seed) < 1 << 64:
        raise ValueError("Seed must be an integer between 0 and 2**64 - 1")
    return int(seed) % (1 << 32)


#: Where CuPy takes the type of elements that NumPy has no parameter for.
_DTYPE_AT = {
    name: place
    for place, names in {
        1: "random_sample standard_cauchy standard_exponential standard_normal",
        2: "chisquare dirichlet exponential geometric logseries pareto poisson power rayleigh standard_gamma "
        "standard_t weibull zipf",
        3: "beta binomial f gamma gumbel laplace logistic lognormal negative_binomial noncentral_chisquare normal "
        "uniform vonmises wald",
        4: "hypergeometric noncentral_f triangular",
        6: "multivariate_normal",
    }.items()
    for name in names.split()
}


#: What takes nothing but lengths.
_OF_LENGTHS = frozenset("rand randn random_sample".split())


def _refuse(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if name == "choice" and len(args) < 2 and kwargs.get("size") is None:
        raise NotImplementedError("choice() without specifying size is not supported yet")
    if name == "shuffle" and not calls.is_device(args[0]):
        raise TypeError("The array must be cupy.ndarray")


def _method(public: str, function: Callable[..., Any]) -> Callable[..., Any]:
    short = public.rpartition(".")[2]
    own_dtype = short in ("randint", "integers", "random", "standard_normal", "standard_exponential", "standard_gamma")
    own_dtype = own_dtype and ".Generator." in public or short == "randint"

    def draw(*args: Any, **kwargs: Any) -> Any:
        _refuse(short, args, kwargs)
        if not own_dtype and short in _DTYPE_AT and len(args) > _DTYPE_AT[short]:
            kwargs["dtype"], args = args[_DTYPE_AT[short]], args[: _DTYPE_AT[short]]
        if short == "choice" and isinstance(args[0], np.ndarray):
            args = (calls.wrapped(calls.copied_in(args[0])), *args[1:])
        kind = None if own_dtype else kwargs.pop("dtype", None)
        calls.refuse_as_whole(args if short in _OF_LENGTHS else kwargs.get("size"))

        def compute(*plain: Any, **words: Any) -> Any:
            found = function(*plain, **words)
            if isinstance(found, (int, float)):
                found = np.asarray(found)
            return found if kind is None or found is None else np.asarray(found).astype(kind)

        return calls.call(public, compute, args, kwargs)

    draw.__name__ = short
    return draw


def get_random_state() -> RandomState:
    """The state behind the functions of the module; apart from NumPy's own."""
    if kept.state is None:
        kept.state = RandomState()
    return kept.state


def set_random_state(state: RandomState) -> None:
    """Another one."""
    kept.state = state


def reset_states() -> None:
    """A fresh one, when numbers are drawn next."""
    kept.state = None


def seed(seed: Any = None) -> None:
    """Begin again."""
    get_random_state().seed(seed)


def default_rng(seed: Any = None) -> Generator:
    """A new generator."""
    return seed if isinstance(seed, Generator) else Generator(seed)


def _drawn(name: str) -> Callable[..., Any]:
    def draw(*args: Any, **kwargs: Any) -> Any:
        return _method(f"cupy.random.{name}", getattr(get_random_state()._source, name))(*args, **kwargs)

    draw.__name__ = name
    return draw


CONTENTS: dict[str, Any] = {
    **{name: _drawn(name) for name in _LEGACY.split()},
    "random": _drawn("random_sample"),
    "ranf": _drawn("random_sample"),
    "sample": _drawn("random_sample"),
    "seed": seed,
    "default_rng": default_rng,
    "RandomState": RandomState,
    "Generator": Generator,
    "get_random_state": get_random_state,
    "set_random_state": set_random_state,
    "reset_states": reset_states,
    **dict.fromkeys(("XORWOW", "MRG32k3a", "Philox4x3210", "BitGenerator"), _BitGenerator),
}
