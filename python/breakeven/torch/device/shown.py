"""What of a tensor on a GPU that is imitated the host is shown: its text, its values, its memory."""

from __future__ import annotations

import functools

from ... import _native
from ...process import dlpack
from .. import dispatch_mode
from ..describe import contexts, storages
from ..no_values import answers
from ..session import GPU, TEMPORARY, session
from ..sides.side import asked, where
from ..steps import sampler
from . import copies, function_mode, read_back

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    plain_array: Any = None


state = State()


def numpy(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor = args[0]
    if kwargs.get("force") or True in args[1:]:
        tensor, kwargs = copies.move(tensor.detach(), "cpu", False), {}
    if asked(tensor) != "cpu":
        raise TypeError(
            "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory "
            "first."
        )
    if session.valueless:
        return answers.array(tensor)
    return session.torch._C.TensorBase.numpy(tensor, **kwargs)


def array(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What NumPy asks of a tensor."""
    if where(args[0]) == "cpu" and not session.valueless:
        return state.plain_array(*args, **kwargs)
    array = numpy(args[:1], {})
    dtype = kwargs.get("dtype") if len(args) == 1 else args[1]
    return array if dtype is None else array.astype(dtype, copy=False)


def lent(args: tuple[Any, ...], _: Any) -> Any:
    """A tensor's memory for another library of the device."""
    tensor = args[0]
    if tensor.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    capsule = answers.array(tensor).__dlpack__() if session.valueless else session.torch._C._to_dlpack(tensor)
    return capsule if where(tensor) == "cpu" else dlpack.of_gpu(capsule)


def lends(plain: Any) -> Any:
    """`to_dlpack`: the same in a capsule."""

    @functools.wraps(plain)
    def lends(tensor: Any) -> Any:
        return tensor.__dlpack__()

    return lends


def shared(args: tuple[Any, ...], _: Any) -> dict[str, Any]:
    """The same for libraries that take it by address (Numba)."""
    tensor = args[0]
    if asked(tensor) == "cpu" or tensor.requires_grad or session.valueless:
        return tensor.__cuda_array_interface__  # type: ignore[no-any-return]  # which says what is amiss
    array = session.torch._C.TensorBase.numpy(tensor).__array_interface__
    return {key: array[key] for key in ("typestr", "shape", "strides")} | {
        "data": (tensor.data_ptr(), False),
        "version": 2,
    }


def borrows(plain: Any) -> Any:
    """`from_dlpack`: what is another library's on the device stays there."""

    @functools.wraps(plain)
    def borrows(ext_tensor: Any, **kwargs: Any) -> Any:
        result = plain(ext_tensor, **kwargs)
        of_gpu = read_back.is_lent(ext_tensor) or (
            isinstance(ext_tensor, session.torch.Tensor) and where(ext_tensor) != "cpu"
        )
        if of_gpu and storages.known_storage(result) is None:  # its memory is counted with what it was lent of
            with contexts.on_device(GPU):
                storages.live(result.untyped_storage(), TEMPORARY, True, counted=False)
        return result

    return borrows


def tolist(args: tuple[Any, ...], _: Any) -> Any:
    tensor = args[0]
    read_back.read(tensor)
    if session.valueless:
        return answers.listed(tensor)
    return session.torch._C.TensorBase.tolist(tensor)


def text(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """As printed: the device stands first after the values."""
    if _is_printed_there(args[0]):
        if not session.valueless:
            return _printed_there(args[0], kwargs)
        # As if each number were like this, of which only those that are printed are made.
        if kwargs.get("tensor_contents") is None:
            _printed_there(_like_any(args[0]), kwargs)
    else:
        read_back.read(args[0])
    token = _native.enter("torch.Tensor.__repr__")
    session.asking += 1  # what is read one by one has been read
    try:
        with session.torch._C.DisableTorchFunctionSubclass():
            text = str(session.torch._tensor_str._str(args[0], **kwargs))
    finally:
        session.asking -= 1
        _native.leave(token, (), None)
    if where(args[0]) == "cpu":
        return text
    marks = [text.find(mark) for mark in (", size=", ", dtype=", ", grad_fn=", ", requires_grad=")]
    at = min([mark for mark in marks if mark >= 0] or [text.rfind(")")])
    return f"{text[:at]}, device='{where(args[0])}'{text[at:]}"


def _is_printed_there(tensor: Any) -> bool:
    """Whether PyTorch prints a tensor where it is, by ops of the GPU's, number by number (`_tensor_str.py`)."""
    if session.imitated is None or type(tensor) not in session.plain or not _native.recording():
        return False
    lib = session.torch
    plain = (
        tensor.layout is lib.strided
        and not tensor.is_nested
        and not lib._C._functorch.is_functorch_wrapped_tensor(tensor)
    )
    return plain and where(tensor) != "cpu"


def _printed_there(tensor: Any, kwargs: dict[str, Any]) -> str:
    """What PyTorch prints; the ops that it takes are told, as part of no step, whether others are seen or not."""
    lib = session.torch
    core = lib._C
    if storages.known_storage(tensor) is None:
        with contexts.on_device(GPU):
            storages.stored(tensor)
    since = sampler.leave_out() if sampler.unseen() else None
    with lib.no_grad(), lib.utils._python_dispatch._disable_current_modes(), core.DisableTorchFunctionSubclass():
        before, inside = _native.beside(True), function_mode.go_in("")
        session.asking += 1  # the ops tell what is read one by one
        core._push_on_torch_dispatch_stack(dispatch_mode.state.mode)
        try:
            return str(lib._tensor_str._str_intern(tensor, **kwargs))
        finally:
            core._pop_torch_dispatch_stack(None)
            session.asking -= 1
            function_mode.come_out(inside)
            _native.beside(before)
            if since is not None:
                sampler.left_out(since)


def _like_any(tensor: Any) -> Any:
    """A tensor of this shape and type that takes no memory, all of whose numbers are 1.5, or as near as the type
    comes to it."""
    lib = session.torch
    with lib.utils._python_dispatch._disable_current_modes():
        return lib.full((), 1.5).to(tensor.dtype).expand(tensor.shape)


def formatted(args: tuple[Any, ...], _: Any) -> str:
    """A tensor in an f-string: one number as that, all others as they are printed."""
    tensor, spec = args
    numbers = type(tensor) in session.plain and type(tensor) is not session.torch.nn.Parameter
    if numbers and tensor.dim() == 0 and tensor.device.type != "meta":
        return format(tensor.detach().item(), spec)
    inside = function_mode.go_in("")  # for `__repr__`
    try:
        return object.__format__(tensor, spec)
    finally:
        function_mode.come_out(inside)
