"""On which side an op runs under `--pretend-gpu`: where its inputs are, with what PyTorch makes of its own accord
and what may stay on the host; the errors of mixed devices; whether the GPU has room for the result."""

from __future__ import annotations

from ... import _native
from ...events import recorder
from .. import frames, memory_left
from ..describe import called_modules, contexts, operands, storages
from ..gpu_form import fused
from ..no_values import known_values
from ..session import FILLING, GPU, TEMPORARY, reads, session
from ..sides import side, under_way, unplaced
from ..sides.side import asked, where
from ..steps import sampler
from ..trace import op, syncs
from . import copies, gpu_memory, graphs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def before(func: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """An op is about to run: is there room for its result on the GPU, and if so here?"""
    if session.imitated is not None and (size := memory_left.size_of(func, args, kwargs)):
        whole = _native.storage_bytes()[0] + size
        fits = whole <= session.imitated["usable"] or session.graph == "node"
        if not fits and not fused.hides() and _runs_there(func, args, kwargs):
            # What does not fit there need not fit here.
            _native.storage_freed(_native.storage_new(size, TEMPORARY, False, True))
            return gpu_memory.room()
    return memory_left.about_to(func, args, kwargs)


def _runs_there(func: Any, args: tuple[Any, ...], kwargs: Any) -> bool:
    if func._schema.name in LIKE and under_way.making.device is not None:
        return under_way.making.device != "cpu"
    if under_way.moving.now is not None:
        return under_way.moving.now[2] != "cpu"
    devices = list(_devices(_values(args, kwargs)))
    return GPU in devices if devices else under_way.making.device == GPU


def after(func: Any, args: tuple[Any, ...], kwargs: Any, result: Any, own: int, gap: int) -> Any:
    """An op has just run: whose device was it on, and is there room for its result?"""
    if session.imitated is None:
        return op.after(func, args, kwargs, result, own, gap)
    if session.part_of_whole(result, own, gap) or storages.is_nowhere(result):
        return None
    name = func._schema.name
    if under_way.moving.now is not None and name == "aten::clone":
        return _move_refused(*under_way.moving.now) or copies.has_moved(args[0], result, own, gap)
    if name in FILLING:
        storages.filled(args)
    devices = set(_devices(_values(args, kwargs)))
    loose = "?" in devices
    if loose:
        devices = _with_loose(func, args, kwargs, devices - {"?"})
    if GPU in devices and "cpu" in devices and name == "aten::copy_":
        return copies.copied(args, own, gap)
    if GPU in devices and "cpu" in devices and (why := _refused(func, args, kwargs)) is not None:
        return RuntimeError(why)
    if GPU in devices and name in _INDEXED:
        _indices(args[_INDEXED[name]])
    elif GPU in devices and name in _BESIDE:
        with contexts.on_device("cpu"):
            for which in _BESIDE[name]:
                storages.stored(result[which])
    elif ("cpu+" in devices or loose and not devices) and not _goes_back_on_host(devices, args) and _of_its_own(args):
        devices = {GPU}
        if name == "aten::lift_fresh":
            _came(operands.described(args[0]), False)  # numbers of Python's, as in `x[[0, 1]]`
    elif "cpu+" in devices and GPU in devices:
        return RuntimeError(_differ(name))
    if session.graph == "capture" and GPU in devices and syncs.waits(func, args, kwargs):
        return graphs.wait_refused()
    if name in LIKE and under_way.making.device is not None:
        device = under_way.making.device
    else:
        device = GPU if GPU in devices else _made_where(result) if not devices else "cpu"
    if GPU in devices and name == _CTC_BACKWARD:
        _lengths(result.shape[1], False)
    with contexts.on_device(device):
        op.after(func, args, kwargs, result, own, gap)
    if not devices and device == "cpu" and under_way.making.device is None and (loose or _native.called_with() is None):
        unplaced.set_adrift(result)
    elif devices and not loose:
        at = _at(func)
        _ran_there[at] = _ran_there.get(at, True) and device != "cpu"
    elif device != "cpu":
        for tensor in storages.flat(result):
            unplaced.settled(tensor)
    return gpu_memory.room() if device != "cpu" else None


def _move_refused(_: str, keywords: list[tuple[str, str]], target: str) -> Any:
    """The error of a copy while a graph is captured. To the host one that is not waited for is to pinned memory."""
    told = dict(keywords)
    asynchronous = told["asynchronous"] == "True"
    return graphs.copy_refused(asynchronous if target == "cpu" else told["pinned"] == "True", asynchronous)


#: Whether all ops of a kind that were seen at an instruction ran on the GPU.
_ran_there: dict[tuple[Any, int, Any], bool] = {}


def _at(func: Any) -> tuple[Any, int, Any]:
    frame = frames.caller()
    return frame.f_code, frame.f_lasti, func


def _with_loose(func: Any, args: tuple[Any, ...], kwargs: Any, devices: set[str]) -> set[str]:
    """The devices of what an op took, some of which nothing has told so far where it is, and others are on
    `devices`: all is there where the GPU's is, or where the same op has been the GPU's before. Else nothing tells it
    now, either: what the op gives may be anywhere, too, and the script may do with it what it may with the host's."""
    name = func._schema.name
    if GPU not in devices and "cpu+" not in devices:
        if name == "aten::_local_scalar_dense":
            # A value that is read counts as the device's, as in a step that goes unwatched.
            is_read = reads.get(frames.place(), True) and called_modules.where() != "cpu"
            return {GPU} if is_read else devices
        devices = {GPU} if _ran_there.get(_at(func)) else set()
    for tensor in unplaced.loose(storages.flat(_values(args, kwargs))):
        # What the GPU's ops may take from the host tells nothing.
        told = GPU in devices and name not in _INDEXED and name not in _BESIDE
        if told and (unplaced.settled(tensor) or name != "aten::copy_"):
            storages.stored(tensor, like=unplaced.MADE_THERE)
        elif "cpu+" not in devices and (known := storages.stored(tensor)) is not None:
            known.adrift = True
    return devices


def _differ(name: str) -> str:
    return (
        f"Expected all tensors to be on the same device, but found at least two devices, {GPU} and cpu! "
        f"(when checking argument for {name.partition('::')[2]})"
    )


def _refused(func: Any, args: tuple[Any, ...], kwargs: Any) -> str | None:
    """Why a GPU would not run this with some of its tensors on the host, of those ops that take others there."""
    name = func._schema.name
    if name in _INDEXED:
        values = args[2:3] if name.startswith(("aten::index_put", "aten::_index_put")) else ()
        here = _is_host(args[0])
        if here and any(map(unplaced.is_there, storages.flat(args[_INDEXED[name]]))):
            return "indices should be either on cpu or on the same device as the indexed tensor (cpu)"
        # A single number goes to the other side, either way.
        across = unplaced.is_there if here else _is_host
        if any(across(value) and value.dim() > 0 for value in values):
            sides = ("cpu", GPU) if here else (GPU, "cpu")
            return "expected self and values to be on the same device, but got self on {} and values on {}".format(
                *sides
            )
        return None
    if name in ("aten::stack", "aten::cat"):
        return _differ(name) if any(_is_host(one) and one.numel() for one in args[0]) else None
    if name in _BESIDE or name == "aten::copy_":
        return None
    written = (value for argument, value in _written(func, args, kwargs) if argument.alias_info.is_write)
    return _differ(name) if any(map(_is_host, storages.flat(list(written)))) else None


def _written(func: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """Arguments that share their memory with what the op gives, and their values."""
    for at, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None:
            yield argument, args[at] if at < len(args) else (kwargs or {}).get(argument.name)


def _is_host(tensor: Any) -> bool:
    """Whether the script has passed a tensor that is known to be on the host: PyTorch's own are not always known for
    what they would be."""
    known = storages.known_storage(tensor)
    if known is None or known.device != "cpu" or known.adrift or (given := _native.called_with()) is None:
        return False
    return any(storages.known_storage(one) is known for one in storages.flat(_values(*given)))


def recurrent(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A recurrent layer, whose state and weights are where its input is."""
    given = args[0]
    for value, what in zip(args[1:4], ("hidden", "parameter", "parameter")):
        for tensor in storages.flat(value):
            if tensor.is_floating_point() and side.is_known(tensor) and side.is_known(given):
                sides = where(given), where(tensor)
                if sides[0] != sides[1]:
                    raise RuntimeError(
                        f"Input and {what} tensors are not at the same device, found input tensor at {sides[0]} and "
                        f"{what} tensor at {sides[1]}"
                    )
    return _native.call_noted(func, args, kwargs)


def packed(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Sequences packed, whose lengths the host has."""
    lengths = args[1] if len(args) > 1 else kwargs["lengths"]
    if unplaced.is_there(lengths):
        kind = str(lengths.dtype).rpartition(".")[2].replace("int64", "Long").replace("int32", "Int")
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.dim()}D {GPU} {kind} tensor"
        )
    return _native.call_noted(func, args, kwargs)


def _values(args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> tuple[Any, ...]:
    """All that a function was called with."""
    return (*args, *(kwargs or {}).values())


def _made_where(result: Any) -> str:
    """The device of what is made from no tensor: as the script says, else that of what it is made for, which is what
    has its type where that is somewhere."""
    if under_way.making.device:
        return under_way.making.device
    given = _native.called_with()
    if given is None or not isinstance(result, session.torch.Tensor):
        return "cpu"
    tensors = list(storages.flat(_values(*given)))
    alike = [tensor for tensor in tensors if tensor.dtype == result.dtype]
    return GPU if any(where(tensor) != "cpu" for tensor in alike or tensors) else "cpu"


def _goes_back_on_host(devices: set[str], args: Any) -> bool:
    """Whether this is a step back through a part of the network that is on the host, though the loss is on the GPU."""
    if session.phase != "backward" or GPU in devices:
        return False
    return "cpu+" in devices or not any(map(unplaced.adrift, storages.flat(args)))


def _of_its_own(args: Any) -> bool:
    """Whether all that is on the host was made by PyTorch in the midst of what it was asked for on the GPU: then it is
    there, too."""
    given = _native.called_with()
    if given is None:
        return False
    passed = list(map(storages.known_storage, storages.flat(_values(*given))))
    if all(known is None or known.device in (None, "cpu") for known in passed):
        return False
    own = [tensor for tensor in storages.flat(args) if tensor.dim() > 0 and where(tensor) == "cpu"]
    if any((known := storages.known_storage(tensor)) is not None and known in passed for tensor in own):
        return False
    if any(tensor is value for tensor in own for value in given[0]):
        return False
    with contexts.on_device(GPU):
        for tensor in own:
            known = storages.stored(tensor)
            if known is not None:
                known.device = GPU
    return True


#: What makes a tensor that is like another but for the device that it may be given.
LIKE = frozenset(
    f"aten::{name}" for name in
    "empty_like zeros_like ones_like full_like rand_like randn_like randint_like new_empty new_empty_strided "
    "new_zeros new_ones "
    "new_full".split()
)  # fmt: skip
#: Ops whose indices (the argument of that number) may be on the host; they are copied to the GPU each time.
_INDEXED = {
    "aten::index": 1, "aten::index_put_": 1, "aten::index_put": 1, "aten::_index_put_impl_": 1, "aten::index_fill_": 2,
}  # fmt: skip
_CTC_BACKWARD = "aten::_ctc_loss_backward"
#: What takes an array on the host beside those on the GPU, and which of its results stay there.
_BESIDE = {
    "aten::_pack_padded_sequence": (1,), "aten::_ctc_loss": (), _CTC_BACKWARD: (), "aten::_nested_view_from_jagged": (),
}  # fmt: skip


def _indices(given: Any) -> None:
    """The indices that an op got from the host, as it copies them: a mask as the positions that it names."""
    for index in storages.flat(given):
        if where(index) != "cpu" or index.dim() == 0:
            continue
        array = operands.described(index)
        if array[0] == 0:
            array = (*_INT64, 0, (max(1, index.dim()), _chosen(index)))
        _came(array, False)


def _chosen(mask: Any) -> int:
    """How many places a mask on the host names; all where its values are not known."""
    lib = session.torch
    if not session.valueless:
        return int(lib.count_nonzero(mask))
    value = known_values.known(mask)
    return mask.numel() if value is None else len(known_values.call(lib.nonzero, value))


def _came(array: Any, apart: bool) -> None:
    """An array that no tensor of the script's is has been copied to the GPU. `apart`: that is seen in whatever step,
    and not with its op alone."""
    contexts.crossed(recorder.TO_DEVICE, [], [(*array, 0)], apart)


def set_item(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """`tensor[key] = value`: a number is copied where it goes to one element or to those of given places, as a GPU's
    kernels that fill and those that choose by a mask take it without. A tensor of the other side is copied."""
    tensor, key, value = args
    parts = key if isinstance(key, tuple) else (key,)
    if isinstance(value, (int, float, complex)) and asked(tensor) != "cpu":
        one = all(_is_whole(part) for part in parts) and len(parts) == tensor.dim()
        if one or any(_is_places(part) for part in parts):
            _came((*operands.described(tensor)[:2], 0, ()), True)
    plain = session.torch._C.TensorBase
    across = isinstance(value, session.torch.Tensor) and asked(value, 1) != asked(tensor)
    _native.call_noted(plain.__setitem__, args, kwargs)
    if across and sampler.unseen() and all(map(_is_plain, parts)):
        with session.torch._C.DisableTorchFunction(), session.torch.no_grad():
            there = plain.__getitem__(tensor, key)
        copies.copied((there, value), 0, 0)


def _is_plain(part: Any) -> bool:
    """Whether a part of a key names elements that lie side by side."""
    return part is None or part is Ellipsis or isinstance(part, (int, slice))


def _is_whole(part: Any) -> bool:
    return isinstance(part, int) and not isinstance(part, bool)


def _is_places(part: Any) -> bool:
    """Whether a part of a key lists whole numbers."""
    if isinstance(part, session.torch.Tensor):
        return part.dim() > 0 and part.dtype not in (session.torch.bool, session.torch.uint8)
    return isinstance(part, list) and all(_is_whole(number) for number in part)


#: Type number and bytes of an element.
_INT64 = 7, 8
_CTC = ("log_probs", "targets", "input_lengths", "target_lengths", "blank", "reduction")


def ctc_loss(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The loss of sequences that are not aligned: the host learns the lengths, and copies them to the GPU beside
    where each sequence's labels begin (`ctc_loss` of ATen's LossCTC.cpp, `ctc_loss_gpu_template` of LossCTC.cu).
    cuDNN, which takes some labels of 32 bits, does as it likes."""
    result = _native.call_noted(func, args, kwargs)
    given = dict(zip(_CTC, args)) | kwargs
    lib, log, labels = session.torch, given["log_probs"], given["targets"]
    by_cudnn = (
        labels.dim() == 1 and labels.dtype == lib.int32 and log.dtype == lib.float32 and given.get("blank", 0) == 0
    )
    if asked(log) == "cpu" or by_cudnn and lib.backends.cudnn.enabled:
        return result
    for lengths in (given["input_lengths"], given["target_lengths"]):
        if isinstance(lengths, lib.Tensor) and asked(lengths) != "cpu":
            known = storages.known_storage(lengths)
            contexts.crossed(recorder.TO_HOST, [(*operands.described(lengths), known.id if known else 0)], [])
    if asked(labels) == "cpu":
        _came((*_INT64, 0, tuple(labels.shape)), True)
    sequences = log.shape[1] if log.dim() == 3 else 1
    _lengths(sequences, True)
    if given.get("reduction", 1) == 1:  # the mean: of each, by its length
        _came((*operands.described(log)[:2], 0, (sequences,)), True)
    return result


def _lengths(sequences: int, apart: bool) -> None:
    """How long each of the sequences and of their labels is, and where these begin."""
    for _ in range(3):
        _came((*_INT64, 0, (sequences,)), apart)


def one_hot(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`one_hot` as a GPU does it, which looks at the values only where it is not told how many classes there are."""
    lib, (tensor, *rest) = session.torch, args
    classes = kwargs.get("num_classes", rest[0] if rest else -1)
    if asked(tensor) == "cpu" or tensor.numel() == 0:
        return lib._C._nn.one_hot(*args, **kwargs)
    if classes == -1:
        classes = int(tensor.max().item()) + 1
    zeros = tensor.new_zeros((*tensor.shape, classes))
    return zeros.scatter_(-1, tensor.unsqueeze(-1), 1)


def _devices(values: Any) -> Any:
    """Devices of the tensors among values; `cpu+` for one on the host with more than a number in it, `?` for one
    that nothing has told where it is."""
    for tensor in storages.flat(values):
        place = where(tensor)
        if place == "cpu" and unplaced.is_loose(tensor):
            yield "?"
            continue
        yield place
        if place == "cpu" and tensor.dim() > 0 and tensor.layout is session.torch.strided:
            yield "cpu+"
