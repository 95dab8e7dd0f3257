"""Attention that a CPU takes apart, for drop-out, because queries share keys, because values are of another width,
or for the gradient of its mask, told as the one kernel that a GPU has for it: the scores are never in its memory,
forward or back.
"""

from __future__ import annotations

import contextlib

from ..describe import operands, storages
from ..session import session
from . import fused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    #: Keeps what a GPU does for the gradients.
    saves: Any = None
    #: The function itself.
    plain: Any = None


state = State()

_NAME = "aten._scaled_dot_product_flash_attention_for_cpu"
_PARAMETERS = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa")
_FLOAT32 = 11, 4


def install(torch: Any) -> None:
    """Put a stand-in over the function that modules call."""
    session.torch = torch

    class Attention(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, output: Any, *given: Any) -> Any:
            _, heads, rows, width = shape = output.shape
            by_rows = (heads * rows * width, width, heads * width, 1)  # no view, which may not be written to here
            result = output.new_empty_strided(shape, by_rows).copy_(output)
            ctx.save_for_backward(result, *given)
            # That follows, and a script may do it in a way of its own (`save_on_cpu`), which is seen.
            fused.show()
            return result

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            fused.passes(gradient, *ctx.saved_tensors)
            return gradient, None, None, None

    state.saves = Attention
    name = "scaled_dot_product_attention"
    state.plain = getattr(torch.nn.functional, name)
    fused.stand_in(torch.nn.functional, name, _begin, _end)
    # Where it says that it comes from: it pickles as that.
    setattr(torch._C._nn, name, getattr(torch.nn.functional, name))


def named(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name."""
    return dict(zip(_PARAMETERS, args)) | kwargs


def _begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = named(args, kwargs)
    query, key, value = given["query"], given["key"], given["value"]
    if not _is_taken_apart(given) or not _is_one_kernel(given) or session.torch._C._get_tracing_state() is not None:
        return None
    call = fused.Call(_NAME, query, key, value)
    call.keywords = [("is_causal", str(bool(given.get("is_causal"))))]
    call.precision = "matmul"
    arrays = [_as(tensor, operands.describe(tensor)) for tensor in (query, key, value)]
    mask = given.get("attn_mask")
    masks = [operands.describe(mask)] if mask is not None else []
    output = (*arrays[0][:2], 0, (*arrays[0][3][:-1], arrays[2][3][-1]), 0)
    each_row = (*_FLOAT32, 0, arrays[0][3][:-1], 0)  # the logarithm of the sum of its exponentials
    call.kept = operands.size(each_row)
    call.held = [tensor.untyped_storage() for tensor in (query, key, value)]
    widths = arrays[0][3][-1], arrays[2][3][-1]
    call.forward = [([*_as_wide(arrays, sum(widths) / 2), *masks], [output, each_row])]
    gradients = [(*array[:4], 0) for array in arrays]
    if _learns(mask):
        gradients.append((*arrays[0][:2], 0, (*arrays[0][3][:-1], arrays[1][3][-2]), 0))  # for each pair
    # Three of five products are as wide as the queries.
    told = _as_wide(arrays, (3 * widths[0] + 2 * widths[1]) / 5)
    call.backward = [([output, *told, output, each_row, *masks], gradients)]
    return call


def _as_wide(arrays: list[Any], width: float) -> list[Any]:
    """The same as the engine knows them, which is told one width: that of as many products."""
    return [(*array[:3], (*array[3][:-1], round(width)), array[4]) for array in arrays]


def _is_taken_apart(given: dict[str, Any]) -> bool:
    """Whether a CPU runs this, and does what a GPU does not; without values nothing shows of drop-out, and it is
    left out."""
    if storages.on_gpu(given["query"]) is not None:
        return False
    if _learns(given.get("attn_mask")):
        return True
    if given["query"].shape[-1:] != given["value"].shape[-1:]:
        return True
    if given.get("dropout_p", 0.0) > 0.0:
        return not session.valueless
    return bool(given["query"].shape[-3:-2] != given["key"].shape[-3:-2])


def _learns(mask: Any) -> bool:
    """Whether a mask has a gradient, as a bias by position has."""
    return mask is not None and mask.requires_grad and session.torch.is_grad_enabled()


def _is_one_kernel(given: dict[str, Any]) -> bool:
    """Whether a GPU has a kernel for it, which the script lets it use."""
    tensors = [given[name] for name in _PARAMETERS[:3]]
    return allows_one(given) and all(type(one) in session.plain and one.dim() == 4 for one in tensors)


def _as(tensor: Any, array: Any) -> Any:
    """An array as autocast lets a GPU compute with it."""
    half = fused.precision(tensor)
    return array if half is None else (*operands.types[half], *array[2:])


def _end(call: Any, output: Any) -> None:
    """The result stays for the gradients, too."""
    given, [made, each_row] = call.forward[0]
    storage = operands.describe(output, True)[4]
    call.held.append(output.untyped_storage())
    call.forward[0] = given, [(*made[:4], storage), each_row]
    call.backward[0][0][4] = (*made[:4], storage)


@contextlib.contextmanager
def computable(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A script that allows any of the fused kernels that a GPU has for this is content with what a CPU has for them."""
    core = session.torch._C
    flash, math = core._get_flash_sdp_enabled(), core._get_math_sdp_enabled()
    if not math and not allows_one(named(args, kwargs)):
        raise RuntimeError("No available kernel. Aborting execution.")
    core._set_sdp_use_flash(flash or core._get_mem_efficient_sdp_enabled() or core._get_cudnn_sdp_enabled())
    core._set_sdp_use_math(True)
    try:
        yield
    finally:
        core._set_sdp_use_flash(flash)
        core._set_sdp_use_math(math)


def allows_one(given: dict[str, Any]) -> bool:
    """Whether the script lets CUDA use a fused kernel that takes this: two of the three know half precision alone,
    and one of these no mask."""
    core, query = session.torch._C, given["query"]
    dtype = fused.precision(query) or query.dtype
    if core._get_mem_efficient_sdp_enabled() and dtype != session.torch.float64:
        return True
    half = dtype in (session.torch.float16, session.torch.bfloat16)
    flash = core._get_flash_sdp_enabled() and given.get("attn_mask") is None
    return half and bool(flash or core._get_cudnn_sdp_enabled())


def laid_out(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments, whose gradients come as a GPU lays them out."""
    three = _PARAMETERS[:3]
    return (*map(_laid_out, args[:3]), *args[3:]), {w: _laid_out(v) if w in three else v for w, v in kwargs.items()}


def _laid_out(tensor: Any) -> Any:
    if not tensor.requires_grad:
        return tensor
    alias = tensor.view_as(tensor)
    alias.register_hook(_by_rows)
    return alias


def _by_rows(tensor: Any) -> Any:
    """The same values; heads come after the rows in memory, as GPUs' kernels leave them."""
    return tensor.transpose(1, 2).contiguous().transpose(1, 2)


def saved(output: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result as a GPU lays it out; what it keeps for the gradients is kept."""
    given = named(args, kwargs)
    return fused.hiding(state.saves.apply, output, *(given[name] for name in _PARAMETERS[:3]))
