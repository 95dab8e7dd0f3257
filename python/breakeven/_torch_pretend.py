"""A GPU that is not there, for scripts that are written for one.

Values are computed on the CPU, or not at all (`_torch_fake`). Which device a tensor is on is a mark on its storage: a
function mode takes `device="cuda"` out of calls, answers `.device`, and makes the copies that the script asks for; a
dispatch mode passes the marks from inputs to results, counts the memory, and runs out of it where the GPU would.
"""

from __future__ import annotations

import atexit
import functools
import os

from . import _native, _torch, _torch_apart, _torch_attention, _torch_copies, _torch_cuda, _torch_draws, _torch_fake, _torch_instead
from . import _torch_let_in, _torch_made, _torch_ops, _torch_passing, _torch_processes, _torch_room, _torch_shown, _torch_side
from . import _torch_triton, _torch_unwritten, _torch_where, _torch_whole, _warned
from ._torch_side import asked, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_handlers: dict[Any, Any] = {}


def install(torch: Any) -> None:
    """Put both modes in place, and `torch.cuda` as it would be."""
    import json

    if given := os.environ.get(_torch.PRETEND):
        gpu = _torch_side.gpu = json.loads(given)
        # The rest is taken by the context and the allocator's slack, as in the verdict.
        gpu.setdefault("usable", gpu["memory"])
        _torch_ops.device = "cpu"
        _native.pretend(gpu["usable"])
        _torch_cuda.install(torch, gpu)
        _torch_triton.install()
        torch.UntypedStorage.resize_ = _torch_where.resizes(torch.UntypedStorage.resize_)
        atexit.register(_torch_where.recording_ends)
    room: Any = (True, _torch_where.before, _torch_room.refused)
    if os.environ.get(_torch.FAKE) == "1":
        _torch_fake.begin(torch)
        _torch_unwritten.leave_files(torch)
        room = (False, None, None, _torch_fake.beside())
        _native.unseen("fake", "tensors had no values (--fake): what the script printed of them means nothing")
    _torch_side.stand_in_abstract(torch)
    _torch.watch_by(_torch_where.after, *room)
    call(torch)


def call(torch: Any) -> None:
    """Let calls of PyTorch's API pass through here, below the script's own modes."""
    from torch.overrides import TorchFunctionMode

    if _torch_let_in.mode is not None:
        return
    _torch_side.lib = torch
    tensor, passes_by = torch.Tensor, _torch_side.gpu is not None and not _torch_ops.valueless
    if passes_by:
        _torch_passing.attributes(torch)
    _handlers.update({
        tensor.device.__get__: _torch_side.told_device,
        tensor.is_cuda.__get__: lambda args, _: asked(args[0]) != "cpu",
        tensor.is_cpu.__get__: _torch_side.told_is_cpu,
        tensor.get_device: lambda args, _: 0 if asked(args[0]) != "cpu" else -1,
        tensor.cuda: _torch_copies.cuda,
        tensor.cpu: lambda args, _: _torch_copies.move(args[0], "cpu", False),
        tensor.to: _torch_copies.to,
        tensor.type_as: _torch_copies.type_as,
        tensor.numpy: _torch_shown.numpy,
        tensor.__array__: _torch_shown.array,
        tensor.tolist: _torch_shown.tolist,
        tensor.pin_memory: _pin,
        tensor.is_shared: lambda args, _: asked(args[0]) != "cpu" or _native.call_noted(tensor.is_shared, args, {}),
        tensor.share_memory_: _share,
        tensor.is_pinned: lambda args, _: bool((known := _torch_ops._known(args[0])) and known.pinned),
        tensor.type: _torch_copies.as_class,
        tensor.__repr__: _torch_shown.text,
        tensor.__format__: _torch_shown.formatted,
        tensor.__dlpack_device__: lambda args, _: (1, 0) if asked(args[0]) == "cpu" else (2, 0),
        tensor.__dlpack__: _torch_shown.lent,
        tensor.__cuda_array_interface__.__get__: _torch_shown.shared,
        tensor.__setitem__: _torch_where.set_item,
        tensor.copy_: _torch_copies.copy,
        tensor.grad.__set__: _grad,
        torch.nn.functional.one_hot: _torch_where.one_hot,
        torch._C._nn.scaled_dot_product_attention: _attention,
        torch._nested_tensor_from_mask: _without_padding,
        tensor.to_padded_tensor: _with_padding,
        torch._nested_tensor_from_tensor_list: _of_list,
    })  # fmt: skip
    _handlers.update(_torch_instead.of(torch))
    # Before modes are asked, its own parser looks for a stream of PyTorch's.
    tensor.record_stream = lambda *_: None
    _torch_shown.plain_array = tensor.__array__
    if _torch_side.gpu is not None:
        for plain in (torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu):
            _handlers[plain] = functools.partial(_torch_where.recurrent, plain)
        ctc_loss, each = torch._C._VariableFunctions.ctc_loss, torch._C._VariableFunctions._foreach_copy_
        _handlers[each] = functools.partial(_torch_copies.copy_each, each)
        _handlers[ctc_loss] = functools.partial(_torch_where.ctc_loss, ctc_loss)
        _handlers[torch._pack_padded_sequence] = functools.partial(_torch_where.packed, torch._pack_padded_sequence)
        torch.from_dlpack = torch.utils.dlpack.from_dlpack = _torch_shown.borrows(torch.from_dlpack)
        torch.to_dlpack = torch.utils.dlpack.to_dlpack = _torch_shown.lends(torch.to_dlpack)
        tensor._make_wrapper_subclass = staticmethod(_torch_let_in.wrapping(tensor._make_wrapper_subclass))
        for compiled in (torch._C.ScriptFunction, torch._C.ScriptMethod):
            compiled.__call__ = _torch_let_in.interpreted(compiled.__call__)
        parse, parsed = torch._C._nn._parse_to, _torch_copies.parsed(torch._C._nn._parse_to)
        torch._C._nn._parse_to, _handlers[parsed] = parsed, lambda args, kwargs: parse(*args, **kwargs)
        nested = torch._C._nested
        nested.nested_tensor = _torch_let_in.given_device(nested.nested_tensor)
        torch.range = _torch_let_in.given_device(torch.range)
    _torch_made.filled.update((torch.tensor, torch.as_tensor, torch.asarray))
    _handlers.update({function: functools.partial(_torch_made.fill, function) for function in _torch_made.filled})
    if _torch_side.gpu is not None:
        torch.from_numpy, torch.frombuffer = _torch_made.of_host(torch.from_numpy), _torch_made.of_host(torch.frombuffer)
        _torch_draws.draw_there(torch, _handlers)
    mode: Any = type("Pretended", (TorchFunctionMode,), {"__module__": __name__})
    by = _handlers, _torch_made.call, _torch_made.unpatched
    mode.__torch_function__ = _native.Function(*by)
    passing, in_mid_run = mode(), _native.recording()
    before = () if in_mid_run else (_torch.op_took(), _torch.op_took(swept=False))
    _torch_let_in.install(torch, passing)
    if passes_by:
        _torch_passing.install(torch, passing, _handlers)
    if not in_mid_run:
        after = _torch.op_took(), _torch.op_took(swept=False)
        mode.__torch_function__ = _native.Function(*by, *(max(0, now - then) for now, then in zip(after, before)))
    _torch_processes.install(torch)
    _warned.name_the_script()


def _attention(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Without values nothing shows of drop-out, for whose sake a CPU takes attention apart, where it is a GPU's one kernel."""
    if _torch_ops.valueless and _torch_attention.allows_one(_torch_attention.named(args, kwargs)):
        kwargs = kwargs | {"dropout_p": 0.0} if "dropout_p" in kwargs else kwargs
        args = (*args[:4], 0.0, *args[5:]) if len(args) > 4 else args
    plain = _torch_attention.plain
    if _torch_side.gpu is None or where(args[0] if args else kwargs["query"]) == "cpu":
        return _native.call_noted(plain, args, kwargs)
    with _torch_attention.computable(args, kwargs):
        if not _torch_whole.running():
            return _native.call_noted(plain, args, kwargs)
        args, kwargs = _torch_attention.laid_out(args, kwargs)
        return _torch_attention.saved(_native.call_noted(plain, args, kwargs), args, kwargs)


def _without_padding(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Without values nothing tells what of a sequence is padding, and PyTorch has no nested tensors: all of it stays."""
    padded = args[0]
    if not _torch_ops.valueless:
        return _native.call_noted(_torch_side.lib._nested_tensor_from_mask, args, kwargs)
    if _torch_side.gpu is None or asked(padded) != "cpu":
        _torch_ops.crossed("torch.Tensor.to_host", [_torch_apart.lengths(padded.shape[0])], [], False)
    _torch_fake._unknown("how much of a sequence is padding", "none of it")
    return padded.clone()


def _of_list(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What PyTorch itself calls with the device in its place."""
    names = "list", "dtype", "layout", "device", "pin_memory"
    return _torch_made.call(_torch_side.lib._nested_tensor_from_tensor_list, (), {**dict(zip(names, args)), **kwargs})


def _with_padding(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if _torch_ops.valueless and not args[0].is_nested:
        return args[0].clone()
    return _native.call_noted(_torch_side.lib.Tensor.to_padded_tensor, args, kwargs)


def _grad(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """`parameter.grad = gradient`."""
    tensor, gradient = args
    known = isinstance(gradient, _torch_side.lib.Tensor) and _torch_side.is_known(gradient) and _torch_side.is_known(tensor)
    if known and where(gradient) != where(tensor):
        raise RuntimeError("assigned grad has data located on a different device")
    _native.call_noted(_torch_side.lib.Tensor.grad.__set__, args, kwargs)


def _share(args: tuple[Any, ...], kwargs: Any) -> Any:
    """There is nothing to do for a GPU's tensors, which is done when they are handed on, nor for those without values."""
    if _torch_ops.valueless or asked(args[0]) != "cpu":
        return args[0]
    return _native.call_noted(_torch_side.lib.Tensor.share_memory_, args, kwargs)


def _pin(args: tuple[Any, ...], _: Any) -> Any:
    tensor = args[0]
    known = _torch_ops._known(tensor)
    if known is not None and known.device not in (None, "cpu") and not known.adrift:
        kind = _torch_copies.as_class((tensor,), {})
        raise RuntimeError(f"cannot pin '{kind}' only dense CPU tensors can be pinned")
    return _torch_made.pinned(tensor.clone())
