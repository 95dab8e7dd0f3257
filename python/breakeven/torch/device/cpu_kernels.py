"""What a GPU has kernels for and a CPU has not, by what a CPU has."""

from __future__ import annotations

import functools

from ... import _native
from ..session import session
from ..sides.side import asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def of(torch: Any) -> dict[Any, Any]:
    """Handlers of these functions."""
    summed = torch.addmm, torch.baddbmm
    products = {plain: functools.partial(_product, plain, plain in summed) for plain in (torch.mm, torch.bmm, *summed)}
    return {torch.histc: _histc, torch.Tensor.histc: _histc, **products}


def _histc(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of integers, which CUDA's kernel counts, and the CPU's refuses."""
    first, *rest = args if args else (kwargs["input"],)
    words = {word: value for word, value in kwargs.items() if word != "input"}
    if first.is_floating_point() or asked(first) == "cpu":
        return session.torch._C.TensorBase.histc(first, *rest, **words)
    return session.torch._C.TensorBase.histc(first.double(), *rest, **words).to(first.dtype)


def _product(plain: Any, summed: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of half-precision matrices as float32 (`out_dtype`): one kernel of a GPU's, here a product and a conversion.
    What is added has the type of the result."""
    dtype = kwargs.get("out_dtype")
    if dtype is None or not args or asked(args[0]) == "cpu":
        return _native.call_noted(plain, args, kwargs)
    words = {word: value for word, value in kwargs.items() if word not in ("out_dtype", "out")}
    if summed:
        scale, beta = words.get("alpha", 1), words.get("beta", 1)
        multiply = session.torch.mm if args[1].dim() == 2 else session.torch.bmm
        result = args[0].mul(beta).add_(multiply(*args[1:]).to(dtype), alpha=scale)
    else:
        result = _native.call_noted(plain, args, words).to(dtype)
    return result if kwargs.get("out") is None else kwargs["out"].copy_(result)
