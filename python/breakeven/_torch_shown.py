"""What of a tensor on a GPU that is imitated the host is shown: its text, its values, its memory."""

from __future__ import annotations

import functools

from . import _lent, _native, _torch, _torch_copies, _torch_fake, _torch_graphs, _torch_let_in, _torch_modules
from . import _torch_ops, _torch_side, _torch_sparse, _torch_steps
from ._torch_ops import GPU
from ._torch_side import asked, where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

plain_array: Any = None


def numpy(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor = args[0]
    if kwargs.get("force") or True in args[1:]:
        tensor, kwargs = _torch_copies.move(tensor.detach(), "cpu", False), {}
    if asked(tensor) != "cpu":
        raise TypeError(
            "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
        )
    if _torch_ops.valueless:
        return _torch_fake.array(tensor)
    return _torch_side.lib._C.TensorBase.numpy(tensor, **kwargs)


def array(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What NumPy asks of a tensor."""
    if where(args[0]) == "cpu" and not _torch_ops.valueless:
        return plain_array(*args, **kwargs)
    array = numpy(args[:1], {})
    dtype = kwargs.get("dtype") if len(args) == 1 else args[1]
    return array if dtype is None else array.astype(dtype, copy=False)


def lent(args: tuple[Any, ...], _: Any) -> Any:
    """A tensor's memory for another library of the device."""
    tensor = args[0]
    if tensor.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    capsule = _torch_fake.array(tensor).__dlpack__() if _torch_ops.valueless else _torch_side.lib._C._to_dlpack(tensor)
    return capsule if where(tensor) == "cpu" else _lent.of_gpu(capsule)


def lends(plain: Any) -> Any:
    """`to_dlpack`: the same in a capsule."""

    @functools.wraps(plain)
    def lends(tensor: Any) -> Any:
        return tensor.__dlpack__()

    return lends


def shared(args: tuple[Any, ...], _: Any) -> dict[str, Any]:
    """The same for libraries that take it by address (Numba)."""
    tensor = args[0]
    if asked(tensor) == "cpu" or tensor.requires_grad or _torch_ops.valueless:
        return tensor.__cuda_array_interface__  # type: ignore[no-any-return]  # which says what is amiss
    array = _torch_side.lib._C.TensorBase.numpy(tensor).__array_interface__
    return {key: array[key] for key in ("typestr", "shape", "strides")} | {"data": (tensor.data_ptr(), False), "version": 2}


def borrows(plain: Any) -> Any:
    """`from_dlpack`: what is another library's on the device stays there."""

    @functools.wraps(plain)
    def borrows(ext_tensor: Any, **kwargs: Any) -> Any:
        result = plain(ext_tensor, **kwargs)
        of_gpu = is_lent(ext_tensor) or (isinstance(ext_tensor, _torch_side.lib.Tensor) and where(ext_tensor) != "cpu")
        if of_gpu and _torch_ops._known(result) is None:  # its memory is counted with what it was lent of
            with _torch_ops.on_device(GPU):
                _torch_ops.live(result.untyped_storage(), _torch_ops.TEMPORARY, True, counted=False)
        return result

    return borrows


def is_lent(value: Any) -> bool:
    """Whether it is another library's array on the device, or a capsule of what is there."""
    asked = getattr(value, "__dlpack_device__", None)
    if asked is None:
        return _lent.is_of_gpu(value)
    return not isinstance(value, _torch_side.lib.Tensor) and asked()[0] == 2


def tolist(args: tuple[Any, ...], _: Any) -> Any:
    tensor = args[0]
    read(tensor)
    if _torch_ops.valueless:
        return _torch_fake.listed(tensor)
    return _torch_side.lib._C.TensorBase.tolist(tensor)


def text(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """As printed: the device stands first after the values."""
    if _is_printed_there(args[0]):
        if not _torch_ops.valueless:
            return _printed_there(args[0], kwargs)
        # As if each number were like this, of which only those that are printed are made.
        if kwargs.get("tensor_contents") is None:
            _printed_there(_like_any(args[0]), kwargs)
    else:
        read(args[0])
    token = _native.enter("torch.Tensor.__repr__")
    _torch_ops.asking += 1  # what is read one by one has been read
    try:
        with _torch_side.lib._C.DisableTorchFunctionSubclass():
            text = str(_torch_side.lib._tensor_str._str(args[0], **kwargs))
    finally:
        _torch_ops.asking -= 1
        _native.leave(token, (), None)
    if where(args[0]) == "cpu":
        return text
    marks = [text.find(mark) for mark in (", size=", ", dtype=", ", grad_fn=", ", requires_grad=")]
    at = min([mark for mark in marks if mark >= 0] or [text.rfind(")")])
    return f"{text[:at]}, device='{where(args[0])}'{text[at:]}"


def _is_printed_there(tensor: Any) -> bool:
    """Whether PyTorch prints a tensor where it is, by ops of the GPU's, number by number (`_tensor_str.py`)."""
    if _torch_side.gpu is None or type(tensor) not in _torch_ops.plain or not _native.recording():
        return False
    lib = _torch_side.lib
    plain = tensor.layout is lib.strided and not tensor.is_nested and not lib._C._functorch.is_functorch_wrapped_tensor(tensor)
    return plain and where(tensor) != "cpu"


def _printed_there(tensor: Any, kwargs: dict[str, Any]) -> str:
    """What PyTorch prints; the ops that it takes are told, as part of no step, whether others are seen or not."""
    lib = _torch_side.lib
    core = lib._C
    if _torch_ops._known(tensor) is None:
        with _torch_ops.on_device(GPU):
            _torch_ops.stored(tensor)
    since = _torch_steps.leave_out() if _torch_steps.unseen() else None
    with lib.no_grad(), lib.utils._python_dispatch._disable_current_modes(), core.DisableTorchFunctionSubclass():
        before, inside = _native.beside(True), _torch_let_in.go_in("")
        _torch_ops.asking += 1  # the ops tell what is read one by one
        core._push_on_torch_dispatch_stack(_torch.mode)
        try:
            return str(lib._tensor_str._str_intern(tensor, **kwargs))
        finally:
            core._pop_torch_dispatch_stack(None)
            _torch_ops.asking -= 1
            _torch_let_in.come_out(inside)
            _native.beside(before)
            if since is not None:
                _torch_steps.left_out(since)


def _like_any(tensor: Any) -> Any:
    """A tensor of this shape and type that takes no memory, all of whose numbers are 1.5, or as near as the type comes to it."""
    lib = _torch_side.lib
    with lib.utils._python_dispatch._disable_current_modes():
        return lib.full((), 1.5).to(tensor.dtype).expand(tensor.shape)


def formatted(args: tuple[Any, ...], _: Any) -> str:
    """A tensor in an f-string: one number as that, all others as they are printed."""
    tensor, spec = args
    numbers = type(tensor) in _torch_ops.plain and type(tensor) is not _torch_side.lib.nn.Parameter
    if numbers and tensor.dim() == 0 and tensor.device.type != "meta":
        return format(tensor.detach().item(), spec)
    inside = _torch_let_in.go_in("")  # for `__repr__`
    try:
        return object.__format__(tensor, spec)
    finally:
        _torch_let_in.come_out(inside)


def read(tensor: Any) -> None:
    # What a loader reads (the order of its samples, say) is the host's.
    likely = _torch_steps.unseen() and _torch_ops.phase != "data" and _torch_modules.where() != "cpu"
    if _torch_ops._known(tensor) is None and _torch_side.where_made(tensor) == "cpu":
        return
    if where(tensor) != "cpu" or (_torch_ops._known(tensor) is None and _torch_ops.reads.get(_torch_ops.place(), likely)):
        if (refused := _torch_graphs.copy_refused(False, False)) is not None:
            raise refused
        _torch_ops.reads[_torch_ops.place()] = True
        for part in _torch_sparse.parts(tensor):
            array = (*_torch_ops.described(part), known.id if (known := _torch_ops._known(part)) is not None else 0)
            _torch_ops.crossed("torch.Tensor.to_host", [array], [])
    elif _torch_ops._known(tensor) is not None:
        _torch_ops.reads.setdefault(_torch_ops.place(), False)  # of the host, as those to come that nobody saw being made
