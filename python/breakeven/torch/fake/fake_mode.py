"""Tensors without values, for models that this machine cannot hold: asked for by `--fake`, or when memory runs out.

In the middle of a run, values that exist stay where they are, and every op from there on gives tensors of PyTorch's
own `FakeTensorMode`; modules that no optimizer knows yet give their parameters' memory back. What comes of it means
nothing, so the script keeps its files: what it would write or remove is refused with a `MemoryError`.
"""

from __future__ import annotations

import functools
import math
import sys
import time

from ... import _native
from ...events import recorder
from ...process import imports
from .. import dispatch_mode, frames
from ..describe import operands, storages
from ..gpu_form import foreach
from ..no_values import answers, exchange, known_values, sanity, valueless
from ..session import PARAMETER, session
from ..sides import side
from ..steps import sampler
from . import subclasses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Elements of a tensor whose values are kept while only others like it are computed with it.
_SMALL = 1 << 16
#: How many layers are timed, and how often.
_LAYERS, _REPEATS = 8, 5
#: Ops whose sparse result has as many values as what they were given.
_CERTAIN = frozenset(
    "clone detach alias _to_copy to neg t transpose permute abs relu div mul_ div_ zeros_like empty_like".split()
)


def begin(torch: Any) -> None:
    """From now on tensors have no values."""
    from torch._subclasses.fake_tensor import (
        DataDependentOutputException,
        DynamicOutputShapeException,
        FakeTensor,
        FakeTensorMode,
    )
    from torch.utils._pytree import tree_map_only

    session.torch = torch
    _native.calls_must_pass()
    session.valueless = True
    session.plain += (FakeTensor,)
    known_values.prepare(torch, FakeTensor)
    # Its own property, which calls of PyTorch's API do not pass through.
    FakeTensor.device = property(_device(FakeTensor.device.fget))
    if "tolist" in vars(FakeTensor):
        del FakeTensor.tolist  # reads each element by itself
    instead, largest = _unknown_values(torch), _unknown_sizes(torch)

    def kept(boxes: Any, *_: Any, **__: Any) -> Any:
        return boxes.new_zeros((boxes.shape[0],), dtype=torch.int64)

    of_terms = (torch.ops.aten.mse_loss.default, torch.ops.aten.smooth_l1_loss.default)
    torch.jit.trace = _as_it_is
    torch._VF._pad_packed_sequence = _padded
    for name in (
        "torch.ao.quantization.quantize",
        "torch.ao.quantization",
        "torch.quantization.quantize",
        "torch.quantization",
    ):
        imports.after(name, _leave_floats)
    torch.set_rng_state = torch.random.set_rng_state = _restored(torch.random.set_rng_state)

    def dispatch(mode: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        other = instead.get(func)
        if other is not None:
            return other(*args, **(kwargs or {}))
        if kwargs and session.imitated is None and str(kwargs.get("device")).startswith("cuda"):
            torch.cuda.init()  # without values PyTorch does not ask whether there is one
        if func.namespace == "c10d":
            return exchange.left(func, args, kwargs or {})

        def bare(tensor: Any) -> Any:
            # Ops on nothing but tensors with values it would compute.
            large = not isinstance(tensor, FakeTensor) and tensor.numel() > _SMALL
            return mode.fake_tensor_converter.from_real_tensor(mode, tensor) if large else tensor

        if (kernel := _kernel(func)) is not None:
            with mode:
                return kernel(*args, **(kwargs or {}))
        real = known_values.inputs(func, args, kwargs)
        if any(not isinstance(tensor, FakeTensor) for tensor in storages.flat((*args, *(kwargs or {}).values()))):
            args, kwargs = tree_map_only(torch.Tensor, bare, (args, kwargs))
        try:
            result = FakeTensorMode.dispatch(mode, func, types, args, kwargs)
        except (DataDependentOutputException, DynamicOutputShapeException):
            if real is not None:  # how large it is, its values tell
                worked = known_values.call(func, *real[0], **real[1])
                result = tree_map_only(
                    torch.Tensor, lambda value: mode.fake_tensor_converter.from_real_tensor(mode, value), worked
                )
            elif func in largest or str(func) == "torchvision.nms.default":
                answers.unknown("how many elements a result has", "as many as there can be")
                result = largest.get(func, kept)(*args, **(kwargs or {}))
            else:
                raise
        if isinstance(result, FakeTensor) and result.layout is torch.sparse_coo and not result._nnz():
            with mode:
                result = _as_many(func, args, result)
        if func in of_terms and isinstance(result, FakeTensor) and not result.dim():
            _keep_terms(args, result)
        if isinstance(result, FakeTensor) and sampler.unseen() and session.phase != "data":
            sampler.state.computed += 1 + result.numel()
        known_values.follow(func, args, kwargs, result, real)
        if isinstance(result, (FakeTensor, tuple)):
            sanity.follow(func, args, result)
        return result

    # All the time, also where nobody watches.
    own: dict[str, Any] = {"dispatch": dispatch} | {
        name: valueless.of_thread(name) for name in vars(valueless.Within())
    }
    valueless.state.mode = type("Valueless", (FakeTensorMode,), own)(allow_non_fake_inputs=True)
    torch.utils._python_dispatch._push_mode(valueless.state.mode)
    _native.set_program('{"recorder": "torch-fake"}')
    torch.nn.Module._apply = _apply
    _lengths_as_tensors(torch)
    _draw_anything(torch)
    subclasses.install(torch, FakeTensor, valueless.state.mode)
    exchange.send_nothing(torch)
    lazy = torch.nn.parameter
    for holder in (lazy.UninitializedParameter, lazy.UninitializedBuffer):
        holder.__new__ = staticmethod(_with_values(holder.__new__))
    lazy.UninitializedTensorMixin.materialize = _with_values(lazy.UninitializedTensorMixin.materialize)
    # Optimizers take all parameters in one call where a GPU has them: of these types as of plain ones.
    for name in ("torch.optim.optimizer", "torch.utils._foreach_utils"):
        types = getattr(sys.modules.get(name), "_foreach_supported_types", [])
        if FakeTensor not in types:
            types.append(FakeTensor)
    if session.imitated is None:
        foreach.sort_by_device(torch)


def beside() -> int:
    """What an op of tensors without values takes longer than others, beside the mode's own work, ns: C++ and Python
    tell each other of them. It is measured on some layers and their gradient, as the mean of all ops where all were
    fastest."""
    valueless.end_thread()
    plain, _ = _layers_took()
    valueless.begin_thread()
    others, ops = _layers_took()
    return max(0, others - plain) // max(ops, 1)


def _layers_took() -> tuple[int, int]:
    """What some layers and their gradient take beside the mode's own work, ns of this thread, and how many ops it
    sees."""
    kind, inside = type(valueless.state.mode), [0, 0]
    dispatch, engine = kind.__torch_dispatch__, session.torch.autograd.Variable._execution_engine

    def timed(mode: Any, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        if func is session.torch.ops.prim.device.default:
            return args[0].fake_device  # of such questions no op is told
        began, (took, ops) = time.thread_time_ns(), inside
        try:
            return dispatch(mode, func, types, args, kwargs)
        finally:
            compile(dispatch_mode.SWEEPS, "", "exec")
            # What it did within itself is part of it.
            inside[:] = took + time.thread_time_ns() - began, ops + 1

    kind.__torch_dispatch__ = timed
    all_took = []
    try:
        for _ in range(_REPEATS):
            inside[:] = 0, 0
            began = time.thread_time_ns()
            result, weights = (
                session.torch.zeros(1, 1),
                [session.torch.zeros(1, 1, requires_grad=True) for _ in range(_LAYERS)],
            )
            for weight in weights:
                result = session.torch.nn.functional.linear(result, weight).tanh()
            total = result.sum()
            # Not by what stands in for it, which tells of gradients.
            engine.run_backward(
                (total,), (session.torch.ones_like(total),), False, False, tuple(weights), allow_unreachable=True
            )
            all_took.append((time.thread_time_ns() - began - inside[0], inside[1]))
    finally:
        kind.__torch_dispatch__ = dispatch
    return min(all_took)


def _keep_terms(args: tuple[Any, ...], result: Any) -> None:
    """Losses whose kernels give out the memory of all their terms with the one number at its beginning (ATen's
    BinaryOps.cpp)."""
    count = operands.count_of(session.torch.broadcast_shapes(*(tensor.shape for tensor in args[:2])))
    result.untyped_storage().resize_(count * result.element_size())


def _as_many(func: Any, args: tuple[Any, ...], result: Any) -> Any:
    """A sparse result with as many values as there can be: of `FakeTensor`'s those that are not made from arrays
    have none."""
    name = func._schema.name.partition("::")[2]
    given = [
        tensor
        for tensor in storages.flat(args)
        if tensor.layout is session.torch.sparse_coo and tensor.dim() == result.dim()
    ]
    sparse = given[0].sparse_dim() if given else result.sparse_dim()
    if name in ("add", "cat"):
        count = sum(tensor._nnz() for tensor in given)
    else:
        count = given[0]._nnz() if given else math.prod(result.shape[:sparse])
    if name not in _CERTAIN:
        answers.unknown("how many values a sparse result has", "as many as there can be")
    where = session.torch.empty((sparse, count), dtype=session.torch.int64, device=result.fake_device)
    values = session.torch.empty((count, *result.shape[sparse:]), dtype=result.dtype, device=result.fake_device)
    form = {"dtype": result.dtype, "layout": session.torch.sparse_coo, "device": result.fake_device}
    make = session.torch.ops.aten._sparse_coo_tensor_with_dims_and_tensors.default
    return make(
        sparse, result.dim() - sparse, list(result.shape), where, values, **form, is_coalesced=name == "_coalesce"
    )


def _kernel(func: Any) -> Any:
    """The kernel of an op of the script's own that has not been told what shapes it gives (`register_fake`)."""
    if (kernel := valueless.kernels.get(func.name())) is None:
        return None
    from torch._library import custom_ops, utils

    definition = custom_ops._maybe_get_opdef(func)
    told = utils.has_fake_kernel(func) if definition is None else definition._abstract_fn is not None
    return None if told else kernel


def _with_values(plain: Any) -> Any:
    """What is to be the memory of a tensor that is there already, which has some."""
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    @functools.wraps(plain)
    def run(*args: Any, **kwargs: Any) -> Any:
        with unset_fake_temporarily():
            return plain(*args, **kwargs)

    return run


def _padded(data: Any, sizes: Any, batch_first: bool, filler: float, least: int) -> tuple[Any, Any]:
    """Packed sequences side by side again, by the ops that PyTorch does so with; their lengths it writes to memory."""
    each = known_values.call(sizes.tolist)
    result = data.new_full((max(len(each), least), each[0], *data.shape[1:]), filler)
    row = first = 0
    for step, size in enumerate([*each[1:], 0], 1):
        if size != each[step - 1]:
            rows = (step - first) * each[step - 1]
            part = data[row : row + rows].view(step - first, each[step - 1], *data.shape[1:])
            result[first:step, : each[step - 1]] = part
            row, first = row + rows, step
    lengths = known_values.call(session.torch.tensor, [sum(size > at for size in each) for at in range(each[0])])
    return result.transpose(0, 1) if batch_first else result, lengths


def _restored(plain: Any) -> Any:
    """A generator's state is set where it is known: numbers that are drawn mean nothing anyway."""

    @functools.wraps(plain)
    def restored(new_state: Any) -> None:
        value = known_values.known(new_state)
        if value is not None:
            known_values.call(plain, value)

    return restored


def _as_it_is(func: Any, *_: Any, **__: Any) -> Any:
    """Tracing looks at the memory of tensors: what is to be traced runs as it is written."""
    recorder.unseen("torch-jit", "torch.jit.trace was left out: without values there is nothing to trace")
    return func


def _leave_floats(name: str) -> None:
    """PyTorch has no quantised tensors without values: what would be quantised stays as it is."""
    import copy

    def left(model: Any, *args: Any, inplace: bool = False, **kwargs: Any) -> Any:
        recorder.unseen("fake", f"quantize_dynamic ({frames.script_line()}) changed nothing: tensors had no values; "
                               f"the model is estimated in "
                       "its own precision")  # fmt: skip
        return model if inplace else copy.deepcopy(model)

    sys.modules[name].quantize_dynamic = left  # type: ignore[attr-defined]


def _device(real: Any) -> Any:
    """`tensor.device` of tensors without values. What PyTorch works out their shapes with is told the truth."""

    def device(tensor: Any) -> Any:
        found = real(tensor)
        asks = sys._getframe(1).f_globals.get("__name__", "")
        return found if found.type != "cpu" or asks.startswith("torch._") else session.torch.device(side.asked(tensor))

    return device


def _apply(self: Any, fn: Any, recurse: bool = True) -> Any:
    """`Module._apply` for parameters without values: they are the same objects, with what the function gives in
    them."""
    if recurse:
        for module in self.children():
            module._apply(fn)
    for name, parameter in self._parameters.items():
        if parameter is not None:
            self._parameters[name] = _applied(parameter, fn)
            if parameter.grad is not None:
                self._parameters[name].grad = fn(parameter.grad)
    for name, buffer in self._buffers.items():
        if buffer is not None:
            self._buffers[name] = fn(buffer)
    return self


def _applied(parameter: Any, fn: Any) -> Any:
    with session.torch.no_grad():
        result = fn(parameter)
    if result is parameter or session.torch.nn.parameter.is_lazy(parameter):
        return result
    # What was made on "meta" stays there.
    if getattr(result, "fake_device", None) == getattr(parameter, "fake_device", None):
        parameter.data = result
        result = parameter
    else:
        result = session.torch.nn.Parameter(result, parameter.requires_grad)
    storages.assign(result, PARAMETER)
    return result


def _unknown_values(torch: Any) -> dict[Any, Any]:
    """Answers where a script asks for values that tensors without values do not have."""
    aten = torch.ops.aten

    def number(tensor: Any) -> Any:
        value = known_values.known(tensor)
        if value is not None:
            return known_values.call(aten._local_scalar_dense.default, value)
        frame = frames.beyond(answers.BETWEEN)
        if tensor.dtype == torch.bool and answers.CHECKS in frame.f_code.co_filename:
            return True  # what is given to a distribution is valid
        times, answer = answers.times_asked(frame), sanity.answer(tensor)
        if answer is not None and answer is not sanity.SOME:
            why = getattr(tensor, "why", "")
            if why == sanity.ANOTHER and times > answers.PATIENCE_AT_MOST:
                answers.unknown(why, "the other answer, so that a loop ends")
                answer = not answer
            elif why:
                answers.unknown(why, sanity.TAKEN[why])
            return bool(answer) if tensor.dtype == torch.bool else answer
        if times == 0 or times > answers.PATIENCE:
            if times:
                answers.unknown("the value of a tensor", "0 or false, so that a loop ends")
            return answers.zero_of(tensor)
        if (count := getattr(tensor, "count", None)) is not None:
            answers.unknown("how many elements are true", "all")
            return count
        answers.unknown("the value of a tensor")
        return True if tensor.dtype == torch.bool else 1.0 if tensor.dtype.is_floating_point else 1

    def whole(tensor: Any) -> Any:
        value = known_values.known(tensor)
        if value is not None:
            places = known_values.call(aten.nonzero.default, value)
            result = tensor.new_zeros(tuple(places.shape), dtype=torch.int64)
            result._value = places
            return result
        answers.unknown("how many elements are not zero")
        return tensor.new_zeros((tensor.numel(), max(tensor.dim(), 1)), dtype=torch.int64)

    def chosen(tensor: Any, mask: Any) -> Any:
        value = known_values.known(mask)
        if value is not None and tensor.shape == mask.shape:
            return tensor.new_zeros((known_values.call(aten.sum.default, value).item(),))
        answers.unknown("how many elements a mask chooses")
        return tensor.new_zeros((tensor.numel(),))

    def packed(tensor: Any, lengths: Any, batch_first: bool) -> tuple[Any, Any]:
        value = known_values.known(lengths)
        steps, count = int(tensor.shape[batch_first]), int(lengths.shape[0])
        if value is None:
            answers.unknown("how long sequences are", "that all are as long as the longest")
        each = [steps] * count if value is None else known_values.call(value.tolist)
        # How many go on at each step, PyTorch's loops look up in memory.
        sizes = known_values.call(torch.tensor, [sum(length > step for length in each) for step in range(max(each))])
        return tensor.new_zeros((sum(each), *tensor.shape[2:])), sizes

    def same(compare: Any, a: Any, b: Any, *how: Any, **words: Any) -> bool:
        values = known_values.known(a), known_values.known(b)
        if values[0] is not None and values[1] is not None:
            return bool(known_values.call(compare, *values, *how, **words))
        if compare is aten.equal.default and a.shape != b.shape:
            return False
        answers.unknown("whether two tensors are equal")
        return True

    def aligned(log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, *_: Any, **__: Any) -> Any:
        """The losses and the logarithms of `alpha`, for which PyTorch asks how long the longest target is."""
        steps, count = log_probs.shape[:2] if log_probs.dim() == 3 else (log_probs.shape[0], 1)
        lengths = target_lengths
        if isinstance(lengths, torch.Tensor):
            value = known_values.known(lengths)
            lengths = None if value is None else known_values.call(value.flatten().tolist)
        longest = max(lengths, default=0) if lengths is not None else targets.shape[-1]
        return log_probs.new_zeros((count,)), log_probs.new_zeros((count, steps, 2 * longest + 1))

    # Whether cuDNN has a kernel, it asks by the targets' values.
    cudnn_asks = [getattr(aten._use_cudnn_ctc_loss, kind) for kind in aten._use_cudnn_ctc_loss.overloads()]

    def unaligned(grad: Any, log_probs: Any, *_: Any, **__: Any) -> Any:
        return log_probs.new_zeros(tuple(log_probs.shape))

    return {
        **{getattr(aten._ctc_loss, kind): aligned for kind in ("default", "Tensor")},
        **{getattr(aten._ctc_loss_backward, kind): unaligned for kind in ("default", "Tensor")},
        **{kind: lambda *_, **__: False for kind in cudnn_asks},
        aten._local_scalar_dense.default: number,
        aten.nonzero.default: whole,
        aten.masked_select.default: chosen,
        **{compare: functools.partial(same, compare) for compare in (aten.equal.default, aten.allclose.default)},
        aten._pack_padded_sequence.default: packed,
    }


def _lengths_as_tensors(torch: Any) -> None:
    """`ctc_loss`'s C++ writes lengths that come in lists into a tensor, which has no memory here."""
    plain = torch.ctc_loss

    def ctc_loss(*args: Any, **kwargs: Any) -> Any:
        args = tuple(torch.tensor(value) if isinstance(value, (list, tuple)) else value for value in args)
        return plain(*args, **kwargs)

    torch.ctc_loss = ctc_loss


def _draw_anything(torch: Any) -> None:
    """Sobol's sequence is worked out in memory: any numbers do."""
    for name in ("_sobol_engine_ff_", "_sobol_engine_initialize_state_", "_sobol_engine_scramble_"):
        setattr(torch, name, lambda state, *_: state)

    def draw(quasi: Any, n: int, _: Any, dimension: int, __: int, dtype: Any = None) -> tuple[Any, Any]:
        return torch.rand(n, dimension, dtype=dtype), quasi

    torch._sobol_engine_draw = draw


def _unknown_sizes(torch: Any) -> dict[Any, Any]:
    """Results whose size unknown values decide: all elements are different, or there is one of each."""
    aten = torch.ops.aten

    def distinct(tensor: Any, *_: Any, **__: Any) -> tuple[Any, Any, Any]:
        """The elements, where each of the tensor's is among them, and how often each occurs."""
        whole = tensor.new_zeros((tensor.numel(),), dtype=torch.int64)
        return tensor.new_zeros((tensor.numel(),)), whole.view(tuple(tensor.shape)), torch.ones_like(whole)

    def counted(tensor: Any, weights: Any = None, minlength: int = 0) -> Any:
        kind = torch.int64 if weights is None else torch.float32 if weights.dtype == torch.float32 else torch.float64
        return tensor.new_zeros((max(minlength, 1),), dtype=kind)

    def repeated(repeats: Any, *, output_size: int | None = None) -> Any:
        return repeats.new_zeros((output_size if output_size is not None else repeats.numel(),))

    return {
        aten._unique2.default: distinct,
        aten.unique_consecutive.default: distinct,
        aten.bincount.default: counted,
        aten.repeat_interleave.Tensor: repeated,
    }
