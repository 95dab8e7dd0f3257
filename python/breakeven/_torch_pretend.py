"""A GPU that is not there, for scripts that are written for one.

Values are computed on the CPU, or not at all (`_torch_fake`). Which device a tensor is on is a mark on its storage: a
function mode takes `device="cuda"` out of calls, answers `.device`, and makes the copies that the script asks for; a
dispatch mode passes the marks from inputs to results, counts the memory, and runs out of it where the GPU would.
"""

from __future__ import annotations

import functools
import os
import sys
from types import FunctionType

from . import _native, _torch, _torch_attention, _torch_classes, _torch_cuda, _torch_fake, _torch_modules, _torch_ops
from . import _torch_room, _torch_sparse, _torch_steps, _torch_unwatched, _torch_where, _torch_whole
from ._torch_ops import GPU

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_lib: Any = None
#: The GPU's figures; None where there are no values and no GPU either.
gpu: Any = None
_wanted: str | None = None
#: The copy being made: name of the event, keywords, device of the result.
_moving: tuple[str, list[tuple[str, str]], str] | None = None
#: What every call of PyTorch's API passes through, in each thread of its own accord; None in a child.
_mode: Any = None
_handlers: dict[Any, Any] = {}
#: Device of the last tensor at each instruction of the script or its libraries.
_places: dict[tuple[Any, int], str] = {}
_plain_array: Any = None
#: Calls that the host fills a tensor in.
_filled: set[Any] = set()
#: What a script's own dispatch modes do, within which calls pass here.
_through: set[Any] = set()
#: How often it is told where tensors really are.
_really = 0


def install(torch: Any) -> None:
    """Put both modes in place, and `torch.cuda` as it would be."""
    global gpu
    import json

    if given := os.environ.get(_torch.PRETEND):
        gpu = json.loads(given)
        _torch_ops.device = "cpu"
        _native.pretend(gpu["memory"])
        _torch_cuda.install(torch, gpu)
    room: Any = (True, _torch_where.before, _torch_room.refused)
    if os.environ.get(_torch.FAKE) == "1":
        _torch_fake.begin(torch)
        _torch_fake.leave_files(torch)
        room = (False,)
        _native.unseen("fake", "tensors had no values (--fake): what the script printed of them means nothing")
    else:
        _stand_in_abstract(torch)
    _torch.watch_by(_torch_where.after, *room)
    call(torch)


def _stand_in_abstract(torch: Any) -> None:
    """Tensors without values that PyTorch itself makes (`torch.export`) are the CPU's: autograd would ask the driver for
    streams of a GPU's, and end the process."""
    converter = torch._subclasses.fake_tensor.FakeTensorConverter
    plain = converter.from_real_tensor

    def from_real_tensor(*args: Any, **kwargs: Any) -> Any:
        global _really
        _really += 1
        try:
            return plain(*args, **kwargs)
        finally:
            _really -= 1

    converter.from_real_tensor = from_real_tensor


def call(torch: Any) -> None:
    """Let calls of PyTorch's API pass through here, below the script's own modes."""
    global _lib, _mode, _plain_array
    from torch.overrides import TorchFunctionMode

    if _mode is not None:
        return
    _lib = torch
    tensor = torch.Tensor
    _handlers.update({
        tensor.device.__get__: _device,
        tensor.is_cuda.__get__: lambda args, _: _asked(args[0]) != "cpu",
        tensor.is_cpu.__get__: _is_cpu,
        tensor.get_device: lambda args, _: 0 if _asked(args[0]) != "cpu" else -1,
        tensor.cuda: _cuda,
        tensor.cpu: lambda args, _: _move(args[0], "cpu", False),
        tensor.to: _to,
        tensor.numpy: _numpy,
        tensor.__array__: _array,
        tensor.tolist: _tolist,
        tensor.pin_memory: _pin,
        tensor.is_pinned: lambda args, _: bool((known := _known(args[0])) and known.pinned),
        tensor.type: _type,
        tensor.__repr__: _text,
        tensor.__format__: _formatted,
        tensor.__dlpack_device__: lambda args, _: (1, 0) if _asked(args[0]) == "cpu" else (2, 0),
        tensor.__dlpack__: _lent,
        tensor.__setitem__: _torch_where.set_item,
        torch.nn.functional.one_hot: _torch_where.one_hot,
        torch._C._nn.scaled_dot_product_attention: _attention,
        torch.histc: _histc,
        tensor.histc: _histc,
    })  # fmt: skip
    # Before modes are asked, its own parser looks for a stream of PyTorch's.
    tensor.record_stream = lambda *_: None
    _plain_array = tensor.__array__
    if gpu is not None:
        for plain in (torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu):
            _handlers[plain] = functools.partial(_torch_where.recurrent, plain)
        _handlers[torch._pack_padded_sequence] = functools.partial(_torch_where.packed, torch._pack_padded_sequence)
        torch.from_dlpack = torch.utils.dlpack.from_dlpack = _borrows(torch.from_dlpack)
        tensor._make_wrapper_subclass = staticmethod(_wrapping(tensor._make_wrapper_subclass))
        nested = torch._C._nested
        nested.nested_tensor = _given_device(nested.nested_tensor)
    _filled.update((torch.tensor, torch.as_tensor, torch.asarray))
    _handlers.update({function: functools.partial(_fill, function) for function in _filled})
    _mode = type("Pretended", (TorchFunctionMode,), {"__module__": __name__})()
    type(_mode).__torch_function__ = _native.Function(_handlers, _function)
    _let_through(torch)
    _stand_in_context()
    _stand_in_engine()
    _stand_in_keeping()
    _stand_in_kernels()
    _stand_in_modes()
    stand_below()
    # A process that loads data makes real tensors, in its own memory.
    os.register_at_fork(after_in_child=_leave_child)


def _let_through(torch: Any) -> None:
    """What is written in Python passes on to modes as a whole, and what it calls would not pass here any more: for our
    mode alone it does not stop."""
    from torch.jit import _builtins

    core = torch._C
    plain_types = (torch.Tensor, torch.nn.Parameter)

    def overridden(value: Any) -> bool:
        return type(value) not in plain_types and core._has_torch_function((value,))

    def alone() -> bool:
        return core._len_torch_function_stack() == 1 and core._get_function_stack_at(0) is _mode

    def has(plain: Any, values: Any) -> Any:
        def asked(*args: Any) -> bool:
            if not alone():
                return plain(*args)  # type: ignore[no-any-return]
            core._pop_torch_function_stack()
            try:
                return any(overridden(value) for value in values(args))
            finally:
                core._push_on_torch_function_stack(_mode)

        return asked

    stand_ins = {
        core._has_torch_function: has(core._has_torch_function, lambda args: args[0]),
        core._has_torch_function_unary: has(core._has_torch_function_unary, lambda args: args),
        core._has_torch_function_variadic: has(core._has_torch_function_variadic, lambda args: args),
    }
    for plain, stand_in in stand_ins.items():
        operator = _builtins._find_builtin(plain)
        if operator is not None:
            _builtins._register_builtin(stand_in, operator)
    for name in ("torch.functional", "torch.nn.functional", "torch.nn.init"):
        module = sys.modules[name]
        for word, value in list(vars(module).items()):
            if word.startswith("has_torch_function") and value in stand_ins:
                setattr(module, word, stand_ins[value])


def _is_on() -> bool:
    """Whether calls of this thread pass here."""
    core = _lib._C
    return any(core._get_function_stack_at(i) is _mode for i in range(core._len_torch_function_stack()))


def _stand_in_engine() -> None:
    """Backward runs with the modes that there are when its engine is called, which is within a call that has passed here
    already: what the script does in it (hooks, functions of its own) passes here all the same."""

    graph = _lib.autograd.graph
    stand_in = _native.Named(graph._engine_run_backward, "_engine_run_backward", _go_in, _come_out)
    for key in ("__module__", "__name__", "__qualname__", "__doc__"):
        stand_in.__dict__[key] = getattr(graph._engine_run_backward, key)
    graph._engine_run_backward = _lib.autograd._engine_run_backward = stand_in


def _go_in(_: str) -> bool:
    """Calls pass here again within one that has."""
    inside = _mode is not None and not _is_on()
    if inside:
        _lib._C._push_on_torch_function_stack(_mode)
    return inside


def _come_out(inside: bool, *_: Any) -> None:
    if inside:
        _lib._C._pop_torch_function_stack()


def _stand_in_keeping() -> None:
    """How a script keeps what gradients need (`save_on_cpu`) is called within a call that has passed here, too."""
    core = _lib._C._autograd
    plain = core._push_saved_tensors_default_hooks

    def push(*hooks: Any) -> None:
        plain(*(_native.Named(hook, "hook", _go_in, _come_out) for hook in hooks))

    core._push_saved_tensors_default_hooks = push


def _stand_in_kernels() -> None:
    """So is a kernel that a script registers for an op of its own (`torch.library`)."""
    library = _lib.library.Library
    plain = library.impl

    @functools.wraps(plain)
    def impl(self: Any, op_name: Any, fn: Any, *args: Any, **kwargs: Any) -> Any:
        module = getattr(fn, "__module__", None) or ""
        of_torch = module.startswith("torch.") and not module.startswith("torch._library.")
        if isinstance(fn, FunctionType) and not of_torch and not module.startswith("breakeven."):
            fn = _native.Named(fn, "kernel", _go_in, _come_out)
        return plain(self, op_name, fn, *args, **kwargs)

    library.impl = impl


def _stand_in_modes() -> None:
    """And so is what a script's own dispatch mode does with an op."""
    modes = _lib.utils._python_dispatch
    plain = modes._push_mode

    def push(mode: Any) -> None:
        kind = type(mode)
        told = kind.__torch_dispatch__
        of_script = not (getattr(told, "__module__", None) or "").startswith(("torch.", "breakeven."))
        if isinstance(told, FunctionType) and of_script and told not in _through:
            kind.__torch_dispatch__ = _let_in(told)
        plain(mode)

    modes._push_mode = push


def _let_in(plain: Any) -> Any:
    @functools.wraps(plain)
    def __torch_dispatch__(*args: Any, **kwargs: Any) -> Any:
        inside = _go_in("")
        try:
            return plain(*args, **kwargs)
        finally:
            _come_out(inside)

    _through.add(__torch_dispatch__)
    return __torch_dispatch__


def _wrapping(plain: Any) -> Any:
    """`_make_wrapper_subclass`: autograd would ask the driver for streams of a GPU's. It is where what it wraps is."""

    @functools.wraps(plain)
    def function(*args: Any, **kwargs: Any) -> Any:
        if _name(kwargs.get("device")) is not None:
            kwargs["device"] = "cpu"
        return plain(*args, **kwargs)

    return function


def _given_device(plain: Any) -> Any:
    """A function that takes a device and passes here of its own accord by no means."""

    @functools.wraps(plain)
    def function(*args: Any, **kwargs: Any) -> Any:
        return _function(plain, args, kwargs)

    return function


def _stand_in_context() -> None:
    """`torch.set_default_device("cuda")` works by a mode that keeps itself below all others: calls that it has given a
    device to come by here once more."""
    from torch.utils import _device

    plain = _device.DeviceContext.__torch_function__

    def passed() -> bool:
        return _mode is not None and not _is_on()

    def given(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        words = kwargs or {}
        if words.get("device") is None and passed() and func in _device._device_constructors():
            return _function(func, args, {**words, "device": self.device})
        return plain(self, func, types, args, words)

    _device.DeviceContext.__torch_function__ = given


def stand_below() -> None:
    """Take the place below the modes of the script in this thread."""
    core = _lib._C
    above = [core._pop_torch_function_stack() for _ in range(core._len_torch_function_stack())]
    begin_thread()
    for mode in reversed(above):
        if mode is not _mode:
            core._push_on_torch_function_stack(mode)


def begin_thread() -> None:
    """In this thread, too, the GPU is there: PyTorch keeps its modes thread by thread."""
    if _mode is not None:
        _mode.__enter__()


def end_thread() -> None:
    """It is not there any more in what is left to do in this thread."""
    while _mode is not None and _is_on():
        _lib._C._pop_torch_function_stack()


def _leave_child() -> None:
    global _mode
    _mode = None
    core = _lib._C
    while core._len_torch_dispatch_stack():
        core._pop_torch_dispatch_stack(None)
    while core._len_torch_function_stack():
        core._pop_torch_function_stack()


def where(tensor: Any) -> str:
    """The device of a tensor: `cpu` or the imitated GPU."""
    known = _known(tensor)
    if known is None and gpu is not None and (made := _where_made(tensor)) is not None:
        return made
    return (known.device if known is not None else None) or "cpu"


def _where_made(tensor: Any) -> str | None:
    """The device of what was made in a step that nobody watched, as far as it is known."""
    if tensor.requires_grad and not tensor.is_leaf:
        return _torch_modules.where()
    like = _torch_unwatched.of_tensor(tensor)
    return like[1] if like is not None else None


def _asked(tensor: Any) -> str:
    """As `where`, for what the script does at this place. What was made in a step that nobody watched is where the
    tensors were that came this way while somebody did."""
    if gpu is None:
        return where(tensor)
    frame = _torch_ops.caller()
    at = (frame.f_code, frame.f_lasti)
    if _torch_steps.unwatched and _known(tensor) is None:
        left = _torch_unwatched.left(tensor) if _torch_steps.skipping else None
        return _where_made(tensor) or _places.get(at) or (left[1] if left is not None else None) or where(tensor)
    _places[at] = device = where(tensor)
    return device


def _known(tensor: Any) -> Any:
    return _torch_ops._known(tensor)


def _device(args: tuple[Any, ...], _: Any) -> Any:
    real = _lib._C.TensorBase.device.__get__(args[0])
    return _lib.device(_asked(args[0])) if real.type == "cpu" and not _really else real


def _is_cpu(args: tuple[Any, ...], _: Any) -> bool:
    return bool(_lib._C.TensorBase.is_cpu.__get__(args[0])) and (_really > 0 or _asked(args[0]) == "cpu")


def _function(func: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """A call that names a device or asks for pinned memory, of which there is none without a GPU."""
    global _wanted
    wanted = _name(kwargs.get("device"))
    if gpu is not None and wanted != GPU and kwargs.get("pin_memory"):
        return _pinned(_function(func, args, {**kwargs, "pin_memory": False, "device": "cpu"}))
    # What a dispatch mode was handed names the device where tensors really are.
    if wanted is None or (wanted == "cpu" and isinstance(func, _lib._ops.OpOverload)):
        return func(*args, **kwargs)
    if func in _filled and args and _is_lent(args[0]):
        return _lib.from_dlpack(args[0])
    if gpu is not None and isinstance(generator := kwargs.get("generator"), _lib._C.Generator):
        kind, of = wanted.partition(":")[0], generator.device.type
        if kind != of:
            raise RuntimeError(f"Expected a '{kind}' device type for generator but found '{of}'")
    # Without values what the host fills is made by ops, too.
    before, _wanted = _wanted, "cpu" if _torch_ops.valueless and func in _filled else wanted
    try:
        result = func(*args, **{**kwargs, "device": "cpu"})
    finally:
        _wanted = before
    if _torch_steps.skipping and func not in _filled and isinstance(result, _lib.Tensor):
        with _torch_ops.on_device(wanted):
            _torch_ops.stored(result)
        return result
    by_host = func in _filled and not (args and isinstance(args[0], _lib.Tensor))
    if wanted != "cpu" and isinstance(result, _lib.Tensor) and (by_host or where(result) == "cpu"):
        # Filled by the host (`torch.tensor([1, 2], device="cuda")`): made there, then copied.
        moved = _move(result.detach(), wanted, False, "cpu")
        return moved.requires_grad_() if result.requires_grad else moved
    return result


def _fill(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`torch.tensor` and its kin: the host fills what they give, of a GPU's numbers one after the other; a tensor that is to be
    on the host is copied there."""
    if not args:
        return _function(func, args, kwargs)
    data, *rest = args
    if isinstance(data, _lib.Tensor) and _name(kwargs.get("device")) == "cpu":
        data = _move(data, "cpu", False)
    elif isinstance(data, (list, tuple)) and any(_is_number(one) and where(one) != "cpu" for one in data):
        if rest == [] and kwargs.get("dtype") is None:
            kwargs = {**kwargs, "dtype": functools.reduce(_lib.promote_types, map(_kind, data))}
        data = [one.item() if _is_number(one) else one for one in data]
    return _function(func, (data, *rest), kwargs)


def _is_number(value: Any) -> bool:
    return isinstance(value, _lib.Tensor) and value.dim() == 0


def _kind(value: Any) -> Any:
    """The element type of a tensor that is filled with this alone."""
    return value.dtype if isinstance(value, _lib.Tensor) else _lib.tensor(value).dtype


def _type(args: tuple[Any, ...], kwargs: Any) -> Any:
    """The name of a tensor's class, or the tensor as one of a class that is named."""
    named = args[1] if len(args) > 1 else kwargs.get("dtype")
    if named is None:
        name = str(_lib._C.TensorBase.type(args[0]))
        return name.replace("torch.", "torch.cuda.", 1) if _asked(args[0]) != "cpu" else name
    if isinstance(named, _lib.dtype):
        return _lib._C.TensorBase.type(args[0], named)
    name = _torch_classes.class_name(named)
    plain = name.replace("torch.cuda.", "torch.", 1)
    if plain != name and gpu is None:
        return _lib._C.TensorBase.type(args[0], plain)
    target = GPU if plain != name else "cpu"
    dtype = getattr(getattr(_lib, plain.removeprefix("torch."), None), "dtype", None)
    if dtype is None:  # sparse, or no class
        return _move(_lib._C.TensorBase.type(args[0], plain), target, _flag(args, kwargs))
    return _move_as(args[0], target, dtype, _flag(args, kwargs))


def _name(device: Any) -> str | None:
    """`cpu` or the imitated GPU for whatever names a device; None for what names none, or one that is not imitated."""
    if device is None:
        return None
    if isinstance(device, int) and not isinstance(device, bool):
        device = f"cuda:{device}"
    text = str(device)
    if text == "cpu":
        return "cpu"
    if text.startswith("cuda") and gpu is not None:
        index = text.partition(":")[2]
        if index and (not index.isdecimal() or int(index) >= _torch_ops.RANKS):
            raise RuntimeError("CUDA error: invalid device ordinal")
        return GPU
    return None


def _flag(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return bool(kwargs.get("non_blocking", any(value is True for value in args[1:])))


def _cuda(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    named = kwargs.get("device", next((value for value in args[1:2] if not isinstance(value, bool)), None))
    return _move(args[0], _name(named) or GPU, _flag(args, kwargs))


def _to(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor, rest = args[0], list(args[1:])
    words = dict(kwargs)
    device = words.pop("device", None)
    if rest and isinstance(rest[0], _lib.Tensor):
        other = rest.pop(0)
        device, rest = _asked(other), [other.dtype, *rest]
    elif rest and (rest[0] is None or isinstance(rest[0], (str, int, _lib.device))) and not isinstance(rest[0], bool):
        device = rest.pop(0)
    target = _name(device)
    if target is None and device is not None:
        return _lib._C.TensorBase.to(tensor, device, *rest, **words)
    blocking = words.pop("non_blocking", None)
    dtype = words.pop("dtype", None)
    if rest and isinstance(rest[0], _lib.dtype):
        dtype = rest.pop(0)
    if blocking is None and rest:
        blocking = rest.pop(0)
    if target is None:
        return _as_type(tensor, dtype, words)
    if target == _asked(tensor):
        return _move(_as_type(tensor, dtype, words), target, bool(blocking))
    words.pop("copy", None)
    return _as_type(_move_as(tensor, target, dtype, bool(blocking)), None, words)  # laid out where it goes


def _as_type(tensor: Any, dtype: Any, words: dict[str, Any]) -> Any:
    """The tensor as another type, or laid out otherwise, on its device."""
    if words or dtype not in (None, tensor.dtype):
        return _lib._C.TensorBase.to(tensor, dtype or tensor.dtype, **words)
    return tensor


def _move_as(tensor: Any, target: str, dtype: Any, non_blocking: bool) -> Any:
    """The tensor on another device and as another type. The host converts where it waits, and the GPU where it does not
    (`copy_kernel_cuda` of ATen's Copy.cu): before the copy on the side that it comes from, after it on the other."""
    first = non_blocking == (target == "cpu")
    moved = _move(_as_type(tensor, dtype, {}) if first else tensor, target, non_blocking)
    result = _as_type(moved, dtype, {})
    if result is not moved and _torch_steps.skipping:
        with _torch_ops.on_device(target):
            _torch_ops.stored(result)
    return result


def _move(tensor: Any, target: str, non_blocking: bool, source: str | None = None) -> Any:
    """The tensor on `target`: itself where it is there already, else a copy, which is recorded as such; `source`: where it is,
    if that is known."""
    global _moving
    if _lib.nn.parameter.is_lazy(tensor):
        return _lazily(tensor, target)
    source = source or _asked(tensor)
    known = _known(tensor)
    if source == target:
        if target == "cpu" and known is None:
            _read(tensor)
        return tensor
    pinned = known is not None and known.pinned
    keywords = [("pinned", str(pinned)), ("asynchronous", str(non_blocking))]
    name = "torch.Tensor.to" if target != "cpu" else "torch.Tensor.to_host"
    _moving = (name, keywords, target)
    try:
        moved = tensor.clone()
        if _torch_steps.skipping and gpu is not None and (refused := _moved(tensor, moved, 0, 0)) is not None:
            raise refused
    finally:
        _moving = None
    return moved


def _lazily(tensor: Any, target: str) -> Any:
    """A parameter that has no shape yet is where it will be."""
    with _lib._C.DisableTorchFunctionSubclass():
        known = _torch_ops.stored(tensor)
    if known is not None:
        known.device = target
    return tensor


def _moved(tensor: Any, result: Any, own: int, gap: int) -> Any:
    """The copy being made has been; the GPU's error where there is no room for it."""
    name, keywords, target = _moving or ("", [], "cpu")
    # Of a sparse tensor each array is copied by itself.
    for source, made in zip(_torch_sparse.parts(tensor), _torch_sparse.parts(result)):
        with _torch_ops.on_device(target):
            # It is known where it is also in steps that go unwatched: those that are not are others.
            _torch_ops.stored(made, like=(True, target, False, _torch_ops._role(made, True)))
            array = _torch_ops.describe(made, True)
        if (refused := _torch_where.room()) is not None:
            return refused
        if made.numel() == 0:
            continue
        known = _torch_ops._known(source) if _torch_steps.skipping else _torch_ops.stored(source, False)
        before = (*array[:4], known.id if known is not None else 0)
        if target == "cpu":
            _torch_ops.reads[_torch_ops.place()] = True
        with _torch_ops.on_device():
            inputs, outputs = ([], [array]) if target != "cpu" else ([before], [])
            _native.tensor_event(name, inputs, outputs, keywords, _torch_ops.context(), own, gap, True)
        own = gap = 0
    return None


def _numpy(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor = args[0]
    if kwargs.get("force") or True in args[1:]:
        tensor, kwargs = _move(tensor.detach(), "cpu", False), {}
    if _asked(tensor) != "cpu":
        raise TypeError(
            "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
        )
    if _torch_ops.valueless:
        return _torch_fake.array(tensor)
    return _lib._C.TensorBase.numpy(tensor, **kwargs)


def _attention(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Without values nothing shows of drop-out, for whose sake a CPU takes attention apart: it is a GPU's one kernel."""
    if _torch_ops.valueless:
        kwargs = kwargs | {"dropout_p": 0.0} if "dropout_p" in kwargs else kwargs
        args = (*args[:4], 0.0, *args[5:]) if len(args) > 4 else args
    plain = _torch_attention.plain
    if gpu is None or where(args[0] if args else kwargs["query"]) == "cpu":
        return _native.call_noted(plain, args, kwargs)
    with _torch_attention.computable():
        if not _torch_whole.running():
            return _native.call_noted(plain, args, kwargs)
        args, kwargs = _torch_attention.laid_out(args, kwargs)
        return _torch_attention.saved(_native.call_noted(plain, args, kwargs), args, kwargs)


def _histc(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of integers, which CUDA's kernel counts, and the CPU's refuses."""
    first, *rest = args if args else (kwargs["input"],)
    words = {word: value for word, value in kwargs.items() if word != "input"}
    if first.is_floating_point() or _asked(first) == "cpu":
        return _lib._C.TensorBase.histc(first, *rest, **words)
    return _lib._C.TensorBase.histc(first.double(), *rest, **words).to(first.dtype)


def _array(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What NumPy asks of a tensor."""
    if where(args[0]) == "cpu" and not _torch_ops.valueless:
        return _plain_array(*args, **kwargs)
    array = _numpy(args[:1], {})
    dtype = kwargs.get("dtype") if len(args) == 1 else args[1]
    return array if dtype is None else array.astype(dtype, copy=False)


def _lent(args: tuple[Any, ...], _: Any) -> Any:
    """A tensor's memory for another library of the device."""
    tensor = args[0]
    if tensor.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return _torch_fake.array(tensor).__dlpack__() if _torch_ops.valueless else _lib.utils.dlpack.to_dlpack(tensor)


def _borrows(plain: Any) -> Any:
    """`from_dlpack`: what is another library's on the device stays there."""

    @functools.wraps(plain)
    def borrows(ext_tensor: Any, **kwargs: Any) -> Any:
        result = plain(ext_tensor, **kwargs)
        own = isinstance(ext_tensor, _lib.Tensor) and where(ext_tensor) != "cpu"
        if own and _known(result) is None:
            with _torch_ops.on_device(GPU):
                _torch_ops.live(result.untyped_storage(), _torch_ops.TEMPORARY, True, counted=False)
        elif _is_lent(ext_tensor):
            with _torch_ops.on_device(GPU):
                _torch_ops.stored(result)
        return result

    return borrows


def _is_lent(value: Any) -> bool:
    """Whether another library's array is on the device."""
    asked = getattr(value, "__dlpack_device__", None)
    return asked is not None and not isinstance(value, _lib.Tensor) and asked()[0] == 2


def _tolist(args: tuple[Any, ...], _: Any) -> Any:
    tensor = args[0]
    _read(tensor)
    if _torch_ops.valueless:
        return _torch_fake.listed(tensor)
    return _lib._C.TensorBase.tolist(tensor)


def _text(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """As printed: the device stands first after the values."""
    _read(args[0])
    token = _native.enter("torch.Tensor.__repr__")
    try:
        with _lib._C.DisableTorchFunctionSubclass():
            text = str(_lib._tensor_str._str(args[0], **kwargs))
    finally:
        _native.leave(token, (), None)
    if where(args[0]) == "cpu":
        return text
    marks = [text.find(mark) for mark in (", size=", ", dtype=", ", grad_fn=", ", requires_grad=")]
    at = min([mark for mark in marks if mark >= 0] or [text.rfind(")")])
    return f"{text[:at]}, device='{where(args[0])}'{text[at:]}"


def _formatted(args: tuple[Any, ...], _: Any) -> str:
    """A tensor in an f-string: one number as that, all others as they are printed."""
    tensor, spec = args
    numbers = type(tensor) in _torch_ops.plain and type(tensor) is not _lib.nn.Parameter
    if numbers and tensor.dim() == 0 and tensor.device.type != "meta":
        return format(tensor.detach().item(), spec)
    inside = _go_in("")  # for `__repr__`
    try:
        return object.__format__(tensor, spec)
    finally:
        _come_out(inside)


def _read(tensor: Any) -> None:
    # What a loader reads (the order of its samples, say) is the host's.
    likely = _torch_steps.skipping and _torch_ops.phase != "data" and _torch_modules.where() != "cpu"
    if _known(tensor) is None and _where_made(tensor) == "cpu":
        return
    if where(tensor) != "cpu" or (_known(tensor) is None and _torch_ops.reads.get(_torch_ops.place(), likely)):
        _torch_ops.reads[_torch_ops.place()] = True
        for part in _torch_sparse.parts(tensor):
            array = (*_torch_ops.described(part), known.id if (known := _known(part)) is not None else 0)
            _torch_ops.crossed("torch.Tensor.to_host", [array], [])
    elif _known(tensor) is not None:
        _torch_ops.reads.setdefault(_torch_ops.place(), False)  # of the host, as those to come that nobody saw being made


def _pin(args: tuple[Any, ...], _: Any) -> Any:
    return _pinned(args[0].clone())


def _pinned(tensor: Any) -> Any:
    """The tensor, whose memory the GPU may read by itself."""
    # Not as made now: a loader pins in a thread of its own, while the script may be making things on the GPU.
    known = _torch_ops.stored(tensor, False, _torch_unwatched.OF_HOST)
    if known is not None:
        known.pinned = True
    return tensor
