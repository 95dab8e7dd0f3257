"""`torch.autocast("cuda")` where the GPU is imitated: what it changes in precision is what a GPU's changes, not a
CPU's.

PyTorch's own table for CUDA is there without a GPU, but looks only at tensors that are on one. What it does to these is
done here in place of what the CPU's table does: https://docs.pytorch.org/docs/stable/amp.html
"""

from __future__ import annotations

from ... import _native
from ..session import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    #: Keeps what is registered.
    library: Any = None
    #: Without the CPU's table, below which no op looks it up again.
    below: Any = None


state = State()


#: Ops in half precision that the CPU's table does not have; recurrent layers and convolutions it has under other names.
_HALF = frozenset("addmv addr mv".split())
_APART = frozenset(
    "_convolution _cudnn_rnn _scaled_dot_product_flash_attention _thnn_fused_gru_cell _thnn_fused_lstm_cell "
    "chain_matmul "
    "convolution cudnn_convolution cudnn_convolution_transpose einsum gru_cell linalg_multi_dot lstm_cell "
    "rnn_relu_cell "
    "rnn_tanh_cell".split()
)
#: Ops in the widest type of what they are given.
_WIDEST = frozenset(
    "addcdiv addcmul atan2 bilinear cross dot grid_sampler index_put scatter_add tensordot vdot".split()
)
#: Ops that read half precision and write single, where the script names no type.
_INTO_SINGLE = frozenset(
    "cumprod cumsum linalg_matrix_norm linalg_vector_norm log_softmax norm prod softmax sum".split()
)
#: Ops that the CPU's table does in single precision, and that stay as they are on a GPU.
_AS_GIVEN = (
    "adaptive_avg_pool3d avg_pool3d cross_entropy_loss max_pool3d reflection_pad1d reflection_pad2d replication_pad1d "
    "replication_pad2d replication_pad3d"
).split()


def watch(torch: Any, tells: Any) -> None:
    """Know whether it is on in each thread; `tells(holder, name, plain, enter, leave)` tells `leave` of each call."""
    enabled = torch.is_autocast_enabled

    def leave(*_: object) -> None:
        _native.autocast_is(enabled("cpu"))

    for name in ("__enter__", "__exit__"):
        tells(torch.autocast, name, getattr(torch.autocast, name), lambda _: None, leave)


def install(torch: Any) -> None:
    """Put a GPU's table in place of the CPU's."""
    if state.library is not None:
        return
    core = torch._C
    session.torch, state.library = torch, torch.library.Library("aten", "IMPL")
    state.below = core.DispatchKeySet(core.DispatchKey.AutocastCPU)
    has = core._dispatch_has_kernel_for_dispatch_key
    for full in core._dispatch_get_all_op_names():
        space, _, name = full.partition("::")
        if space == "aten" and has(full, "AutocastCUDA") and (kernel := _kernel(name, has(full, "AutocastCPU"))):
            _register(name, kernel)
    for name in _AS_GIVEN:
        if has(f"aten::{name}", "AutocastCPU"):
            _register(name, torch.library.fallthrough_kernel)


def _register(name: str, kernel: Any) -> None:
    try:
        state.library.impl(name, kernel, "AutocastCPU", allow_override=True)
    except TypeError:  # a version that overrides without being told
        state.library.impl(name, kernel, "AutocastCPU")


def _kernel(name: str, on_cpu: bool) -> Any:
    """What a GPU does of an op; None where the CPU does so, too."""
    base, _, overload = name.partition(".")
    op = getattr(getattr(session.torch.ops.aten, base), overload or "default")
    if base == "binary_cross_entropy":
        refuses = session.torch._C.DispatchKey.AutocastCUDA
        return lambda *args, **kwargs: op._op_dk(refuses, *args, **kwargs)
    if base in _WIDEST:
        return _cast(op, _widest)
    if base in _INTO_SINGLE:
        return _into_single(op)
    if on_cpu or base in _APART:
        return None
    half = base in _HALF
    return _cast(op, lambda _: session.torch.get_autocast_dtype("cpu") if half else session.torch.float32)


def _cast(op: Any, into: Any) -> Any:
    def run(*args: Any, **kwargs: Any) -> Any:
        with session.torch._C._ExcludeDispatchKeyGuard(state.below):
            given = (args, kwargs)
            args, kwargs = _as_type(given, into(given))
            return op(*args, **kwargs)

    return run


def _into_single(op: Any) -> Any:
    typed = {"Scalar": "ScalarOpt_dtype", "ScalarOpt_dim": "ScalarOpt_dim_dtype"}.get(op._overloadname)
    if typed is not None:
        op = getattr(op._overloadpacket, typed)
    place = [argument.name for argument in op._schema.arguments].index("dtype")

    def run(*args: Any, **kwargs: Any) -> Any:
        if _changes(args[0]):
            if args[place:] == (None,):
                args = args[:place]
            if len(args) <= place and kwargs.get("dtype") is None:
                kwargs["dtype"] = session.torch.float32
        with session.torch._C._ExcludeDispatchKeyGuard(state.below):
            return op(*args, **kwargs)

    return run


def _changes(value: Any) -> bool:
    """Whether this is a tensor that may be given another precision."""
    return (
        isinstance(value, session.torch.Tensor) and value.is_floating_point() and value.dtype != session.torch.float64
    )


def _widest(given: Any) -> Any:
    """Single precision if anything has it, else the half one in force."""
    tensors = filter(_changes, session.torch.utils._pytree.tree_leaves(given))
    single = any(tensor.dtype == session.torch.float32 for tensor in tensors)
    return session.torch.float32 if single else session.torch.get_autocast_dtype("cpu")


def _as_type(value: Any, dtype: Any) -> Any:
    if isinstance(value, dict):
        return {word: _as_type(part, dtype) for word, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_as_type(part, dtype) for part in value)
    return value.to(dtype) if _changes(value) and value.dtype != dtype else value
