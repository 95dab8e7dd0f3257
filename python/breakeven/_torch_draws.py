"""Numbers that a GPU which is imitated draws: with a generator of its own."""

from __future__ import annotations

import functools

from . import _native, _torch_made, _torch_ops, _torch_side
from ._torch_side import asked, named

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
    functions = f"{made} {dropped} {dropped.replace(' ', '_ ')}_ lstm gru rnn_tanh rnn_relu _standard_gamma _sample_dirichlet"
    found = _names_of(tensor, in_place) + _names_of(torch, functions)
    for function in [*found, *_names_of(nn, "rrelu_with_noise rrelu_with_noise_ scaled_dot_product_attention")]:
        handlers[function] = functools.partial(_draws, handlers.get(function) or functools.partial(_called, function))


def _called(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    told = any(kwargs.get(word) is not None for word in ("device", "generator")) or kwargs.get("pin_memory")
    return _torch_made.call(function, args, kwargs) if told else _native.call_noted(function, args, kwargs)


def _draws(handler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function that draws, for whose sake states change places where that is on the GPU."""
    own, [drawn] = kwargs.get("generator"), _torch_side.lib.cuda.default_generators
    if _torch_ops.valueless or own not in (None, drawn) or _place_of(args, kwargs) == "cpu":
        return handler(args, kwargs)
    host = _torch_side.lib.default_generator
    kept = host.get_state()
    host.set_state(drawn.get_state())
    try:
        return handler(args, kwargs)
    finally:
        drawn.set_state(host.get_state())
        host.set_state(kept)


def _place_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Where a call runs: where it says, or its tensors are, or what is made of nothing."""
    if (wanted := named(kwargs.get("device"))) is not None:
        return wanted
    first = next(_torch_ops.flat((*args, *kwargs.values())), None)
    return asked(first) if first is not None else named(_torch_side.lib.utils._device.CURRENT_DEVICE) or "cpu"


def drawing(generator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The generator of a call, which is to be where that runs; None for the GPU's own, whose state is in place."""
    if not isinstance(generator, _torch_side.lib._C.Generator):
        return generator  # PyTorch says what it expects
    kind, of = _place_of(args, kwargs).partition(":")[0], generator.device.type
    if kind != of:
        raise RuntimeError(f"Expected a '{kind}' device type for generator but found '{of}'")
    return None if generator in _torch_side.lib.cuda.default_generators else generator
