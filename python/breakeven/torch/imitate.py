"""A GPU that is not there, for scripts that are written for one.

Values are computed on the CPU, or not at all (`fake/`). Which device a tensor is on is a mark on its storage: a
function mode takes `device="cuda"` out of calls, answers `.device`, and makes the copies that the script asks for; a
dispatch mode passes the marks from inputs to results, counts the memory, and runs out of it where the GPU would.
"""

from __future__ import annotations

import atexit
import functools
import os

from .. import _native
from ..events import recorder
from ..process import warned
from . import dispatch_mode, memory_left
from .describe import contexts, storages
from .device import (
    bypass,
    copies,
    cpu_kernels,
    cuda_api,
    draws,
    factories,
    function_mode,
    gpu_memory,
    placed_ops,
    processes,
    reentry,
    shown,
)
from .device import (
    triton as triton_kernels,
)
from .fake import fake_mode, virtual_files
from .gpu_form import attention, composites, fused
from .no_values import answers
from .session import session
from .sides import side
from .sides.side import asked, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_handlers: dict[Any, Any] = {}


def install(torch: Any) -> None:
    """Put both modes in place, and `torch.cuda` as it would be."""
    import json

    if given := os.environ.get(dispatch_mode.PRETEND):
        gpu = session.imitated = json.loads(given)
        # The rest is taken by the context and the allocator's slack, as in the verdict.
        gpu.setdefault("usable", gpu["memory"])
        session.device = "cpu"
        _native.pretend(gpu["usable"])
        cuda_api.install(torch, gpu)
        triton_kernels.install()
        torch.UntypedStorage.resize_ = gpu_memory.resizes(torch.UntypedStorage.resize_)
        atexit.register(gpu_memory.recording_ends)
    room: Any = (True, placed_ops.before, memory_left.refused)
    if os.environ.get(dispatch_mode.FAKE) == "1":
        fake_mode.begin(torch)
        virtual_files.leave_files(torch)
        room = (False, None, None, fake_mode.beside())
        recorder.unseen("fake", "tensors had no values (--fake): what the script printed of them means nothing")
    side.stand_in_abstract(torch)
    dispatch_mode.watch_by(placed_ops.after, *room)
    call(torch)


def call(torch: Any) -> None:
    """Let calls of PyTorch's API pass through here, below the script's own modes."""
    from torch.overrides import TorchFunctionMode

    if function_mode.state.mode is not None:
        return
    session.torch = torch
    tensor, passes_by = torch.Tensor, session.imitated is not None and not session.valueless
    if passes_by:
        bypass.attributes(torch)
    _handlers.update({
        tensor.device.__get__: side.told_device,
        tensor.is_cuda.__get__: lambda args, _: asked(args[0]) != "cpu",
        tensor.is_cpu.__get__: side.told_is_cpu,
        tensor.get_device: lambda args, _: 0 if asked(args[0]) != "cpu" else -1,
        tensor.cuda: copies.cuda,
        tensor.cpu: lambda args, _: copies.move(args[0], "cpu", False),
        tensor.to: copies.to,
        tensor.type_as: copies.type_as,
        tensor.numpy: shown.numpy,
        tensor.__array__: shown.array,
        tensor.tolist: shown.tolist,
        tensor.pin_memory: _pin,
        tensor.is_shared: lambda args, _: asked(args[0]) != "cpu" or _native.call_noted(tensor.is_shared, args, {}),
        tensor.share_memory_: _share,
        tensor.is_pinned: lambda args, _: bool((known := storages.known_storage(args[0])) and known.pinned),
        tensor.type: copies.as_class,
        tensor.__repr__: shown.text,
        tensor.__format__: shown.formatted,
        tensor.__dlpack_device__: lambda args, _: (1, 0) if asked(args[0]) == "cpu" else (2, 0),
        tensor.__dlpack__: shown.lent,
        tensor.__cuda_array_interface__.__get__: shown.shared,
        tensor.__setitem__: placed_ops.set_item,
        tensor.copy_: copies.copy,
        tensor.grad.__set__: _grad,
        torch.nn.functional.one_hot: placed_ops.one_hot,
        torch._C._nn.scaled_dot_product_attention: _attention,
        torch._nested_tensor_from_mask: _without_padding,
        tensor.to_padded_tensor: _with_padding,
        torch._nested_tensor_from_tensor_list: _of_list,
    })  # fmt: skip
    _handlers.update(cpu_kernels.of(torch))
    # Before modes are asked, its own parser looks for a stream of PyTorch's.
    tensor.record_stream = lambda *_: None
    shown.state.plain_array = tensor.__array__
    if session.imitated is not None:
        for plain in (torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu):
            _handlers[plain] = functools.partial(placed_ops.recurrent, plain)
        ctc_loss, each = torch._C._VariableFunctions.ctc_loss, torch._C._VariableFunctions._foreach_copy_
        _handlers[each] = functools.partial(copies.copy_each, each)
        _handlers[ctc_loss] = functools.partial(placed_ops.ctc_loss, ctc_loss)
        _handlers[torch._pack_padded_sequence] = functools.partial(placed_ops.packed, torch._pack_padded_sequence)
        torch.from_dlpack = torch.utils.dlpack.from_dlpack = shown.borrows(torch.from_dlpack)
        torch.to_dlpack = torch.utils.dlpack.to_dlpack = shown.lends(torch.to_dlpack)
        tensor._make_wrapper_subclass = staticmethod(reentry.wrapping(tensor._make_wrapper_subclass))
        for compiled in (torch._C.ScriptFunction, torch._C.ScriptMethod):
            compiled.__call__ = reentry.interpreted(compiled.__call__)
        parse, parsed = torch._C._nn._parse_to, copies.parsed(torch._C._nn._parse_to)
        torch._C._nn._parse_to, _handlers[parsed] = parsed, lambda args, kwargs: parse(*args, **kwargs)
        nested = torch._C._nested
        nested.nested_tensor = reentry.given_device(nested.nested_tensor)
        torch.range = reentry.given_device(torch.range)
    factories.filled.update((torch.tensor, torch.as_tensor, torch.asarray))
    _handlers.update({function: functools.partial(factories.fill, function) for function in factories.filled})
    if session.imitated is not None:
        torch.from_numpy, torch.frombuffer = factories.of_host(torch.from_numpy), factories.of_host(torch.frombuffer)
        draws.draw_there(torch, _handlers)
    mode: Any = type("Pretended", (TorchFunctionMode,), {"__module__": __name__})
    by = _handlers, factories.call, factories.unpatched
    mode.__torch_function__ = _native.Function(*by)
    passing, in_mid_run = mode(), _native.recording()
    before = () if in_mid_run else (dispatch_mode.op_took(), dispatch_mode.op_took(swept=False))
    reentry.install(torch, passing)
    if passes_by:
        bypass.install(torch, passing, _handlers)
    if not in_mid_run:
        after = dispatch_mode.op_took(), dispatch_mode.op_took(swept=False)
        mode.__torch_function__ = _native.Function(*by, *(max(0, now - then) for now, then in zip(after, before)))
    processes.install(torch)
    warned.name_the_script()


def _attention(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Without values nothing shows of drop-out, for whose sake a CPU takes attention apart, where it is a GPU's one
    kernel."""
    if session.valueless and attention.allows_one(attention.named(args, kwargs)):
        kwargs = kwargs | {"dropout_p": 0.0} if "dropout_p" in kwargs else kwargs
        args = (*args[:4], 0.0, *args[5:]) if len(args) > 4 else args
    plain = attention.state.plain
    if session.imitated is None or where(args[0] if args else kwargs["query"]) == "cpu":
        return _native.call_noted(plain, args, kwargs)
    with attention.computable(args, kwargs):
        if not fused.running():
            return _native.call_noted(plain, args, kwargs)
        args, kwargs = attention.laid_out(args, kwargs)
        return attention.saved(_native.call_noted(plain, args, kwargs), args, kwargs)


def _without_padding(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Without values nothing tells what of a sequence is padding, and PyTorch has no nested tensors: all of it
    stays."""
    padded = args[0]
    if not session.valueless:
        return _native.call_noted(session.torch._nested_tensor_from_mask, args, kwargs)
    if session.imitated is None or asked(padded) != "cpu":
        contexts.crossed(recorder.TO_HOST, [composites.lengths(padded.shape[0])], [], False)
    answers.unknown("how much of a sequence is padding", "none of it")
    return padded.clone()


def _of_list(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What PyTorch itself calls with the device in its place."""
    names = "list", "dtype", "layout", "device", "pin_memory"
    return factories.call(session.torch._nested_tensor_from_tensor_list, (), {**dict(zip(names, args)), **kwargs})


def _with_padding(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if session.valueless and not args[0].is_nested:
        return args[0].clone()
    return _native.call_noted(session.torch.Tensor.to_padded_tensor, args, kwargs)


def _grad(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """`parameter.grad = gradient`."""
    tensor, gradient = args
    known = isinstance(gradient, session.torch.Tensor) and side.is_known(gradient) and side.is_known(tensor)
    if known and where(gradient) != where(tensor):
        raise RuntimeError("assigned grad has data located on a different device")
    _native.call_noted(session.torch.Tensor.grad.__set__, args, kwargs)


def _share(args: tuple[Any, ...], kwargs: Any) -> Any:
    """There is nothing to do for a GPU's tensors, which is done when they are handed on, nor for those without
    values."""
    if session.valueless or asked(args[0]) != "cpu":
        return args[0]
    return _native.call_noted(session.torch.Tensor.share_memory_, args, kwargs)


def _pin(args: tuple[Any, ...], _: Any) -> Any:
    tensor = args[0]
    known = storages.known_storage(tensor)
    if known is not None and known.device not in (None, "cpu") and not known.adrift:
        kind = copies.as_class((tensor,), {})
        raise RuntimeError(f"cannot pin '{kind}' only dense CPU tensors can be pinned")
    return factories.pinned(tensor.clone())
