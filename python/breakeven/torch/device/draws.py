"""Numbers that a GPU which is imitated draws: with a generator of its own."""

from __future__ import annotations

import functools

from ... import _native
from ..session import session
from . import factories, generators

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _names_of(holder: Any, names: str) -> list[Any]:
    return [getattr(holder, name) for name in names.split() if hasattr(holder, name)]


def draw_there(torch: Any, handlers: dict[Any, Any]) -> None:
    """What draws on the GPU does so with the GPU's own generator, and leaves the host's as it was."""
    tensor, nn = torch.Tensor, torch._C._nn
    in_place = "normal_ uniform_ random_ exponential_ bernoulli_ cauchy_ geometric_ log_normal_ bernoulli multinomial"
    dropped = "dropout feature_dropout alpha_dropout feature_alpha_dropout native_dropout rrelu"
    made = "rand randn randint randperm rand_like randn_like randint_like normal bernoulli multinomial poisson binomial"
    functions = (
        f"{made} {dropped} {dropped.replace(' ', '_ ')}_ lstm gru rnn_tanh rnn_relu _standard_gamma _sample_dirichlet"
    )
    found = _names_of(tensor, in_place) + _names_of(torch, functions)
    for function in [*found, *_names_of(nn, "rrelu_with_noise rrelu_with_noise_ scaled_dot_product_attention")]:
        handlers[function] = functools.partial(_draws, handlers.get(function) or functools.partial(_called, function))


def _called(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    told = any(kwargs.get(word) is not None for word in ("device", "generator")) or kwargs.get("pin_memory")
    return factories.call(function, args, kwargs) if told else _native.call_noted(function, args, kwargs)


def _draws(handler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function that draws, for whose sake states change places where that is on the GPU."""
    own, [drawn] = kwargs.get("generator"), session.torch.cuda.default_generators
    if session.valueless or own not in (None, drawn) or generators.place_of(args, kwargs) == "cpu":
        return handler(args, kwargs)
    host = session.torch.default_generator
    kept = host.get_state()
    host.set_state(drawn.get_state())
    try:
        return handler(args, kwargs)
    finally:
        drawn.set_state(host.get_state())
        host.set_state(kept)
