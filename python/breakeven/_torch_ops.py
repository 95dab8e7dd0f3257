"""An op of PyTorch as the native table takes it: name, shapes, storages, what the shapes do not tell."""

from __future__ import annotations

import dis
import functools
import itertools
import os
import sys
import weakref

from . import _native, _torch_gpu, _torch_placement, _torch_room, _torch_sparse, _torch_unwatched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any


def _told(name: str, otherwise: int) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 4 else otherwise


#: Which GPU is imitated, of how many: one, and where `torchrun` starts several ranks one for each.
RANK = _told("LOCAL_RANK", 0)
RANKS = max(_told("LOCAL_WORLD_SIZE", 1), RANK + 1)
GPU = f"cuda:{RANK}"
PARAMETER, GRADIENT, STATE, ACTIVATION, INPUT, TEMPORARY = range(6)

#: `forward` comes from the module in charge, the others are set where they begin.
phase: str | None = None
#: Paths of the modules being called, outermost first.
path: list[str | None] = []
#: Under `--pretend-gpu`: the device that new storages are on, and the stream that its ops go to.
device: str | None = None
stream: int | None = None
#: What ops have to do with a CUDA graph: `capture` while one is recorded, `node` while one is replayed.
graph: str | None = None
#: A real GPU that tensors are on; None as long as there is none.
gpu: str | None = None
#: What is to be done when the first tensor is on one, and when memory runs out.
on_first_gpu: Any = None
on_memory_short: Any = None
#: The one that the op being told has a tensor on.
_there: str | None = None
#: Kinds of devices that are GPUs.
GPUS = ("cuda", "mps", "xpu")
#: While an optimizer steps with one parameter after the other where a GPU takes all at once: whether an op is one of
#: those, to be told with the others.
together: Any = None
#: Whether an op that has just run is part of a call that is told as a whole.
part_of_whole: Any = None
#: Ops that do what several others do, and what tells of those.
of_several: dict[str, Any] = {}
#: Under `--fake`: tensors take no memory here.
valueless = False

#: The op whose results are being described, and what it was given.
_gives: tuple[Any, dict[str, Any]] | None = None

#: NumPy's number of an element type, its bytes.
_types: dict[Any, tuple[int, int]] = {}
_ops: dict[Any, _Op] = {}
_contexts: dict[tuple[str | None, str | None, int | None, str | None, str | None, bool], int] = {}
_torch: Any = None
#: Of code whose variables are no dictionary; what may look at those of a function; by how many a dictionary is held that is
#: the frame's, a variable's and being asked.
_OPTIMIZED = 1
_LOOKS = frozenset(("locals", "vars", "dir", "exec", "eval"))
_OF_FRAME = 3
#: Classes of tensors that have memory.
plain: tuple[type, ...] = ()

#: Arguments that are no tensors and yet decide what is computed, by the name that the engine knows.
_KEYWORDS = {
    "dim": "axis",
    "transposed": "transposed",
    "output_mask": "output_mask",
    "is_causal": "is_causal",
    "kernel_size": "kernel_size",
    "mode": "mode",
    "training": "training",
}
#: Ops that write their first argument and do not read it.
_OVERWRITE = frozenset(
    "copy_ fill_ zero_ normal_ uniform_ bernoulli_ random_ exponential_ log_normal_ cauchy_ geometric_".split()
)
#: Ops that a GPU does in TF32 where the script allows that, by what it allows it for.
_PRODUCTS = {
    f"aten.{name}": kind
    for kind, names in {
        "matmul": "mm addmm _addmm_activation bmm baddbmm addbmm linear",
        "conv": "convolution _convolution convolution_backward",
        "rnn": "mkldnn_rnn_layer mkldnn_rnn_layer_backward",
    }.items()
    for name in names.split()
}
_FLOAT32, _TF32 = 11, 202
#: Powers, and exponents that the engine is told: those of few, as each is a name of its own.
_POWERS, _QUICK = ("aten.pow", "aten.pow_"), (0, 1, 2, 3, 0.5, -0.5, -1, -2)
#: Ops that take memory which the host has just filled, of values of Python's or, a storage, of a file's.
FILLING = frozenset(("aten::lift_fresh", "aten::set_"))
#: The soft-max of attention that is taken apart.
_OF_ATTENTION = "aten._safe_softmax"
#: An optimizer works out its own counters.
_COUNTER = "torch.host_scalar"
#: One value is read on the host.
READ = "aten._local_scalar_dense"
#: Instructions that read values, and whether a device would have them: what is read there unwatched is like that.
reads: dict[tuple[Any, int], bool] = {}
#: From one instruction of a call to the other, in bytes, and what is known of instructions.
_TO_CALL = 4
_calls: dict[tuple[Any, int], tuple[Any, int]] = {}
#: The variables of our modules that were met, by identity: they live as long as Python does.
_own: set[int] = set()
#: Calls of the script's or of PyTorch's Python that are reading a single value.
asking = 0
#: An optimizer has read a value that a device would have.
optimizer_asks = False
#: Marks memory that an op uses besides the arrays that say what it computes.
_MEMORY_ONLY = 255


def prepare(torch: Any) -> None:
    """Learn PyTorch's element types."""
    global _torch, plain
    _torch, plain = torch, (torch.Tensor, torch.nn.Parameter)
    names = {
        "bool": (0, 1), "int8": (1, 1), "uint8": (2, 1), "int16": (3, 2), "uint16": (4, 2), "int32": (5, 4),
        "uint32": (6, 4), "int64": (7, 8), "uint64": (8, 8), "float16": (23, 2), "float32": (11, 4),
        "float64": (12, 8), "complex64": (14, 8), "complex128": (15, 16), "bfloat16": (200, 2),
        "float8_e4m3fn": (201, 1), "float8_e5m2": (201, 1), "float8_e4m3fnuz": (201, 1), "float8_e5m2fnuz": (201, 1),
        "qint8": (1, 1), "quint8": (2, 1), "qint32": (5, 4), "quint4x2": (2, 1),
    }  # fmt: skip
    for name, number in names.items():
        if hasattr(torch, name):
            _types[getattr(torch, name)] = number


_FUNCTIONAL = ("_c10d_functional", "_c10d_functional_autograd")


class _Op:
    """What is looked up once for each overload."""

    __slots__ = ("changed", "collective", "each", "fills", "keywords", "makes", "name", "names", "overwrites", "product", "several",
                 "written")  # fmt: skip

    def __init__(self, func: Any) -> None:
        schema = func._schema
        self.name = schema.name.replace("::", ".")
        self.names = [argument.name for argument in schema.arguments]
        self.written = [
            argument.name for argument in schema.arguments if argument.alias_info and argument.alias_info.is_write
        ]
        self.each = self.name.startswith("aten._foreach_")
        # Below a mode these change their tensors without autograd's being told.
        self.changed = self.written if self.each else []
        self.fills = schema.name in FILLING
        # Of no values that it is given.
        self.makes = self.name.endswith("_like") or self.name.startswith("aten.new_")
        # Those that return what they exchanged wait for it by an op of their own.
        library, _, action = self.name.partition(".")
        self.collective = library == "c10d" or (library in _FUNCTIONAL and "wait" not in action and "wrap" not in action)
        self.product = _PRODUCTS.get(self.name)
        self.several = of_several.get(self.name)
        self.overwrites = self.name.partition(".")[2] in _OVERWRITE
        self.keywords = [(i, name) for i, name in enumerate(self.names) if name in _KEYWORDS]


class Stored(weakref.ref):  # type: ignore[type-arg]
    """A living storage."""

    __slots__ = (
        "adrift", "aside", "back", "bytes", "device", "id", "key", "pinned", "placed", "put", "put_by", "reduced", "role"
    )  # fmt: skip

    id: int
    key: int
    bytes: int
    role: int
    #: It was computed on the device of a script without a GPU.
    placed: bool
    #: It was made on the host and never on that device; see `_torch_placement`.
    aside: bool
    #: Tensors in it that were put there, and the lines that did so; see `_torch_placement`.
    put: list[Any]
    put_by: set[Any]
    #: The host was given a copy of it: whether that has taken its place, and which version of the values it is.
    back: tuple[bool, int] | None
    device: str | None
    #: Nothing has told so far which device it is on: it counts as the host's.
    adrift: bool
    pinned: bool
    #: A single value that was computed from arrays, or from other such values.
    reduced: bool


_live: dict[int, Stored] = {}


_died = _native.Dies(_live)


#: What PyTorch raises where a tensor has no such thing: a handler of the script's signals, which may run meanwhile, raises
#: others.
REFUSED = RuntimeError, TypeError, ValueError, AttributeError, AssertionError


def stored(tensor: Any, made: bool = True, like: _torch_unwatched.Like | None = None) -> Stored | None:
    """The storage of a tensor; `made` says that an op gives it out now, else the host must have filled it, or a step that
    nobody watched made it. One that was not known is as `like`, which is of no step's making."""
    if type(tensor) not in plain:
        if _is_fake(tensor):
            return None
        if wrapped := _wrapped(tensor):
            return [stored(part, made, like) for part in wrapped][0]
    try:
        storage = tensor.untyped_storage()
        key, size = storage._cdata, storage.nbytes()
    except REFUSED:  # sparse, opaque: there is none
        inner = _within_transform(tensor)
        return stored(inner, made) if inner is not None else None
    global _there
    known = _live.get(key)
    if known is None:
        if tensor._is_zerotensor() or _is_meta(tensor):
            return None  # a tangent that is known to be zero, or a shape alone: its storage has no memory
        if like is not None:
            known = _live_like(storage, like)
        else:
            kind = size, tensor.dtype
            like = None if made else _torch_unwatched.of_kind(kind)
            # What autograd knows how it came about, or has kept, was made by an op, though nobody may have seen it.
            missed = _was_missed(storage)
            made = made or missed or phase == "backward" or (tensor.requires_grad and not tensor.is_leaf)
            known = live(storage, _role(tensor, made), made) if like is None else _live_like(storage, like)
            _torch_unwatched.made(kind, known, made, phase == "data")
        if not valueless and (gpu is None or known.device == "cpu"):
            _torch_room.made(size)
    elif known.bytes != size:
        known.bytes = size
        _native.storage_resized(known.id, size)
    if gpu is not None and known.device not in (None, "cpu"):
        _there = known.device
    return known


def is_missed(tensor: Any) -> bool:
    """Whether an op made the storage of a tensor before others were seen that steps do not do."""
    missed = _torch_unwatched.missed
    return bool(missed) and not _is_fake(tensor) and tensor.untyped_storage().data_ptr() in missed


def _was_missed(storage: Any) -> bool:
    """The same of a storage, of which that is told once."""
    missed = _torch_unwatched.missed
    if not missed or (address := storage.data_ptr()) not in missed:
        return False
    missed.discard(address)
    return True


def filled(args: Any) -> None:
    """An op of `FILLING` was given this: what the host has just filled is known as such."""
    if len(args) == 1:
        new = _known(args[0]) is None
        known = stored(args[0], False, _torch_unwatched.OF_HOST)
        if new and known is not None:
            # Others of its kind may be made elsewhere in the same step.
            _torch_unwatched.made((known.bytes, args[0].dtype), known, False, phase == "data")
    elif isinstance(args[1], _torch.UntypedStorage) and args[1]._cdata not in _live:
        live(args[1], INPUT, False, aside=False)  # a copy of another's, or a file's: it may be anywhere


def live(
    storage: Any, role: int, made: bool, place: str | None = None, counted: bool = True, aside: bool | None = None
) -> Stored:
    """A storage that nobody knew so far; `place`: the device that it is on, where that is not the present one; not `counted`:
    no memory of a GPU's, so far; `aside`: whether a script without a GPU has it on the host, where it is known."""
    known = Stored(storage, _died)
    known.key, known.bytes, known.role = storage._cdata, storage.nbytes(), role
    known.pinned = known.reduced = known.adrift = False
    known.put, known.put_by, known.back = [], set(), None
    known.device = place or ((device if made else "cpu") if device is not None else _really_on(storage))
    known.aside, known.placed = _torch_placement.makes_on_host(made) if aside is None else aside, _torch_placement.makes_there(made)
    on_host = known.device == "cpu" or (known.aside and _torch_placement.now.aware)
    # What a graph's replay makes is in memory that the graph has for itself.
    size = known.bytes if counted and graph != "node" else 0
    known.id = _native.storage_new(size, role, on_host, made and not _torch_placement.now.filling)
    _live[known.key] = known
    return known


def _live_like(storage: Any, like: _torch_unwatched.Like) -> Stored:
    """One that was made where nobody watched."""
    made, place, placed, role = like
    if device is not None:
        known = live(storage, role, made, place)
    else:
        known = live(storage, role, made, aside=_torch_placement.now.tells and place == "cpu")
    known.placed = placed
    return known


def _really_on(storage: Any) -> str | None:
    """The real GPU that a storage is on; where there is one, `cpu` for others."""
    global gpu
    place = storage.device
    if place.type not in GPUS:
        return "cpu" if gpu is not None else None
    name = str(place)
    if gpu is None:
        gpu = name
        on_first_gpu(_torch, place)
    return name


def on_gpu(tensor: Any) -> str | None:
    """The real GPU that a tensor is on."""
    return str(tensor.device) if gpu is not None and tensor.device.type in GPUS else None


def hand_over(tensor: Any, heir: Any) -> None:
    """What the storage of `tensor` was to the recorder, that of `heir` is from now on."""
    before, storage = stored(tensor, False), heir.untyped_storage()
    if before is not None:
        known = Stored(storage, _died)
        known.key, known.id, before.id = storage._cdata, before.id, 0
        known.bytes, known.role, known.placed = before.bytes, before.role, before.placed
        known.put, known.put_by, known.aside, known.back = before.put, before.put_by, before.aside, before.back
        known.pinned, known.device, known.reduced = before.pinned, before.device, before.reduced
        known.adrift = before.adrift
        _live[known.key] = known


def _role(tensor: Any, made: bool, computed: bool = False) -> int:
    """What a new storage is for; `computed` says that it comes of a network's values."""
    if isinstance(tensor, _torch.nn.Parameter):
        return PARAMETER
    if not made:
        return INPUT
    if path and phase != "backward":
        return ACTIVATION  # also in what an optimizer asks to be computed again
    backwards = phase in ("backward", "optimizer")
    if computed and not backwards:
        return ACTIVATION
    return _role_of_result(*_gives, backwards) if _gives is not None else TEMPORARY if backwards else INPUT


def _role_of_result(op: Any, given: dict[str, Any], backwards: bool) -> int:
    """The same of what an op gives outside of modules: what needs a gradient, what products give and what comes of either are
    activations; data that is only prepared stays input."""
    graph = not op.makes and _torch.is_grad_enabled()
    if backwards and not graph:
        return TEMPORARY
    tensors = list(flat(list(given.values())))
    if graph and any(tensor.requires_grad for tensor in tensors):
        return ACTIVATION
    if backwards:
        return TEMPORARY
    if phase == "data":
        return INPUT
    roles = {known.role for tensor in tensors if (known := _known(tensor)) is not None}
    if op.product or ACTIVATION in roles:
        return ACTIVATION
    return INPUT if roles.isdisjoint((GRADIENT, TEMPORARY)) else TEMPORARY


def assign(tensor: Any, role: int, made: bool = True) -> None:
    """This tensor's memory is for `role`."""
    for part in _torch_sparse.parts(tensor):
        known = stored(part, made)
        if known is not None and known.role != role and known.role != PARAMETER:
            known.role = role
            _native.storage_role(known.id, role)


def describe(tensor: Any, made: bool = False) -> tuple[int, int, int, tuple[int, ...], int]:
    """Element type, its bytes, layout, dims, storage."""
    known = stored(tensor, made)
    return (*described(tensor), known.id if known is not None else 0)


def described(tensor: Any) -> tuple[int, int, int, tuple[int, ...]]:
    """The same without its storage."""
    code, size = _types.get(tensor.dtype, (17, 8))
    try:
        shape = tuple(map(int, tensor.shape))
    except REFUSED:  # nested: its rows differ
        shape = ()
    return code, size, _layout(tensor, shape), shape


def _layout(tensor: Any, shape: tuple[int, ...]) -> int:
    try:
        if tensor.is_contiguous():
            return 0
        if len(shape) == 4 and tensor.is_contiguous(memory_format=_torch.channels_last):
            return 3
        if len(shape) == 2 and tensor.stride() == (1, shape[0]):
            return 1
        strides = tensor.stride()
        together = 4 if len(shape) > 1 and strides[-1] == 1 else 2
        if 0 not in strides:
            return together
        # Its first axes repeat the same memory: a layer's weights, expanded to each of a batch.
        repeated = next((axis for axis, stride in enumerate(strides) if stride), len(shape))
        return together + 8 * min(repeated, 30)
    except REFUSED:  # a layout that has no strides
        return 0


def describe_all(values: Any, made: bool, out: list[Any], together: bool = False) -> None:
    """Tensors among the values of one argument. A list of several stands as one array of all their elements, but for the two or
    three results of an op, unless these are `together`: an op's that does the same to each of a list."""
    if isinstance(values, _torch.Tensor):
        out.extend(describe(part, made) for part in _torch_sparse.parts(values))
    elif isinstance(values, (list, tuple)):
        tensors = [value for value in values if isinstance(value, _torch.Tensor)]
        if len(tensors) == 1 or (tensors and made and not together and len(tensors) < 4):
            out.extend(describe(tensor, made) for tensor in tensors)
        elif tensors:
            out.extend(_as_list([describe(tensor, made) for tensor in tensors]))


def as_lists(calls: Iterable[list[Any]]) -> list[Any]:
    """The arrays of several calls of one op as those of one with a list for each of its arguments."""
    told: list[Any] = []
    for column in zip(*calls):
        told.extend(_as_list(column))
    return told


def _as_list(parts: Sequence[Any]) -> list[Any]:
    if len(parts) == 1:
        return [parts[0]]
    total = sum(_count(part[3]) for part in parts)
    return [(parts[0][0], parts[0][1], 0, (total,), 0), *(memory(part[4]) for part in parts if part[4])]


def memory(storage: int) -> Any:
    """A storage that an op uses besides the arrays that say what it computes."""
    return 0, 0, _MEMORY_ONLY, (), storage


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for dim in shape:
        count *= dim
    return count


def size(array: Any) -> int:
    """Bytes of an array described."""
    return int(array[1]) * _count(array[3])


def is_nowhere(result: Any) -> bool:
    """Whether an op has computed nothing, for tensors that have a shape alone."""
    first = result[0] if result.__class__ in (list, tuple) and result else result
    return isinstance(first, _torch.Tensor) and (_is_meta(first) or (type(first) not in plain and _is_fake(first)))


def _is_meta(tensor: Any) -> bool:
    """Whether a tensor was made on "meta", where those are in truth that have no values for our sake."""
    if not valueless:
        return tensor.is_meta  # type: ignore[no-any-return]
    return getattr(getattr(tensor, "fake_device", None), "type", None) == "meta"


def _is_fake(tensor: Any) -> bool:
    """Whether a tensor is of a `FakeTensorMode` of the script's, while those that it works with have values."""
    return not valueless and hasattr(tensor, "fake_mode")


def after(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None, result: Any, own: int, gap: int) -> None:
    """An op has just run."""
    if part_of_whole(result, own, gap) or is_nowhere(result):
        return
    op = _ops.get(func)
    if op is None:
        op = _ops[func] = _Op(func)
    global _there, optimizer_asks, _gives
    _there = None
    given = dict(zip(op.names, args))
    if kwargs:
        given.update(kwargs)
    for argument in op.changed:
        for tensor in given.get(argument, ()):
            _torch.autograd.graph.increment_version(tensor)
    if op.collective:
        _exchanged(op, given, result, own, gap)
        return
    if op.fills:
        filled(args)
    inputs: list[Any] = []
    name, factors = op.name, _torch_sparse.factors(op.name, args)
    if factors is not None:
        name, inputs = _torch_sparse.PRODUCT, _torch_sparse.described(*factors)
    unknown = op.name == READ and reads.get(place(), device not in (None, "cpu")) and _known(args[0]) is None
    first = True
    for value in given.values() if factors is None else ():
        if not (first and op.overwrites):
            describe_all(value, False, inputs)
        elif isinstance(value, _torch.Tensor):
            inputs.append((*describe(value, True)[:4], 0))
        first = False
    outputs: list[Any] = []
    _gives = op, given
    aside = _torch_placement.now.tells and _torch_placement.begins(op, given)
    describe_all(result, True, outputs, op.each)
    _gives = None
    if _torch_placement.now.tells:
        if from_host := _torch_placement.indices(op.name, given):
            inputs = _torch_placement.sends(from_host, inputs)
        _torch_placement.ends(result)
    if not outputs:
        for argument in op.written:
            describe_all(given.get(argument), True, outputs, op.each)
    keywords = [(_KEYWORDS[word], str(given[word])) for _, word in op.keywords if word in given]
    if op.name in _POWERS and (exponent := given.get("exponent")).__class__ in (int, float) and exponent in _QUICK:
        keywords.append(("exponent", str(exponent)))
    if _gives_numbers(op, given, outputs) and _is_counter(given, result):
        name = _COUNTER
    whole = inputs, outputs
    if op.product and factors is None and _in_tf32(op.product):
        inputs, outputs = _shortened(inputs), _shortened(outputs)
    if unknown:
        inputs = [(*described(args[0]), 0)]  # made while nobody watched
    if _there is None:
        crosses = _torch_placement.crosses(op.name, given) if _torch_placement.now.aware else None
    else:
        crosses = _torch_gpu.crosses(name, given, result)
    if crosses is not None:
        name, inputs, outputs, keywords = crosses
    elif gpu is None and not aside:
        _place(given, outputs)
    there = (device != "cpu" and not (aside and _torch_placement.now.aware)) if gpu is None else _there is not None
    # What crosses is told in each step, and so is what Python reads. What C++ reads is seen with its step alone.
    seen = _there is not None and op.name != _torch_gpu.FILLED
    apart = asking > 0 if name == READ else None if crosses is None else seen
    now = context(given, _there, aside and name != _COUNTER)  # counters are no data
    if together is not None and together(name, inputs, outputs, keywords, now, own, gap):
        return
    if op.several is not None:
        op.several(given, whole[1], now, there, own, gap)
        return
    counts = _native.tensor_event(name, inputs, outputs, keywords, now, own, gap, apart)
    if _torch_placement.now.sent and gpu is None:
        _torch_placement.send(result)
    if op.name == _torch_placement.PACKS and _torch_placement.now.tells:
        _torch_placement.stay(result[1])
    if op.product == "conv":
        _biased(given, *whole, now)
    if op.name == _OF_ATTENTION and args[0].dtype != _torch.float64 and _torch._C._get_flash_sdp_enabled():
        _native.unseen("attention", "attention was recorded as the products that the CPU takes it apart into: a GPU has one kernel for it, "
                       "which takes less time and memory")  # fmt: skip
    if name == READ:
        at_read = place()
        reads[at_read] = counts and there
        _torch_unwatched.is_read(at_read, args[0], counts and there)
        if _torch_placement.now.tells:
            _torch_placement.is_read(args[0], _known(args[0]), READ)
        optimizer_asks |= phase == "optimizer"
    elif there and phase != "data" and (tells := _TOLD.get(op.name)):
        for told in tells(given):
            _native.tensor_event("torch.Tensor.to_host", [told], [], [], now, 0, 0)


def _gives_numbers(op: _Op, given: dict[str, Any], outputs: list[Any]) -> bool:
    """Whether all that an op gives, or changes of a list, are single values."""
    if op.changed:
        return not any(tensor.dim() for argument in op.changed for tensor in given.get(argument, ()))
    return not any(len(array[3]) for array in outputs)


def _is_counter(given: dict[str, Any], result: Any) -> bool:
    """Whether an op, which gives single values or none, is on an optimizer's own counters: on a GPU, too, it keeps them on
    the host. What it reduces arrays to is none, nor is a parameter of one value."""
    tensors = list(flat(list(given.values())))
    reduced = any(tensor.dim() for tensor in tensors)
    if not reduced:
        known = [known for tensor in tensors if (known := _known(tensor)) is not None]
        if gpu is not None:
            reduced = _there is not None
        elif device is not None:
            reduced = any(one.device != "cpu" for one in known)
        else:
            reduced = any(one.reduced or one.role in (PARAMETER, GRADIENT) for one in known)
    if not reduced:
        return phase == "optimizer"
    for value in flat(result):
        if (made := _known(value)) is not None:
            made.reduced = True
    return False


def _biased(given: dict[str, Any], inputs: list[Any], outputs: list[Any], there: int) -> None:
    """What a GPU does about a convolution's bias in calls of their own, and a CPU within the convolution: cuDNN's add none,
    PyTorch's depth-wise kernels do; the gradient is a sum over pictures and places."""
    if "output_mask" in given:
        if given["output_mask"][2] and outputs:
            around = (0, *range(2, len(inputs[0][3])))
            _native.tensor_event("aten.sum", [inputs[0]], [outputs[-1]], [("axis", str(around))], there, 0, 0)
    elif given.get("bias") is not None and not 1 < given.get("groups", 1) == given["input"].shape[1]:
        code, size, layout, shape, storage = inputs[-1]
        bias = (code, size, layout, (*shape, *[1] * (len(outputs[0][3]) - 2)), storage)
        _native.tensor_event("aten.add_", [outputs[0], bias], [outputs[0]], [], there, 0, 0)


#: What is copied to the host then.
_COUNT = (7, 8, 0, (), 0)
#: Yes or no (`allclose` of TensorCompare.cpp).
ANSWER = (0, 1, 0, (), 0)


def _by_mask(given: dict[str, Any]) -> list[Any]:
    """How many places the masks name that index on the GPU."""
    # A mask on the host is made into places there.
    masks = [index for index in flat(given["indices"]) if index.dtype in (_torch.bool, _torch.uint8)]
    return [_COUNT] if any(map(_may_be_there, masks)) and not _fills_a_mask(given, len(masks)) else []


def _may_be_there(tensor: Any) -> bool:
    """Whether a GPU has a tensor, or would have it as far as a script without one tells."""
    if device is None and gpu is None:
        return not _torch_placement.now.aware or _torch_placement.where(tensor) is not False
    known = _known(tensor)
    return known is not None and known.device != "cpu"


def _repeated(given: dict[str, Any]) -> list[Any]:
    """How much it is in all, and the smallest (`repeat_interleave_common` of ATen's Repeat.h)."""
    repeats = given["repeats"]
    return [_COUNT, _one_of(repeats)] if given.get("output_size") is None and repeats.numel() else []


def _range(given: dict[str, Any]) -> list[Any]:
    """The smallest and the largest, where no range is given (`_histc_cuda_template` of ATen's SummaryOps.cu)."""
    values = given["self"]
    return [_one_of(values)] * 2 if given.get("min", 0) == given.get("max", 0) and values.numel() else []


def _counted(given: dict[str, Any]) -> list[Any]:
    """The smallest, which of unsigned numbers is not asked for, and the largest (`_bincount_cuda_template` there)."""
    values = given["self"]
    return [_one_of(values)] * (1 if values.dtype == _torch.uint8 else 2) if values.numel() else []


def _eigenvalues(given: dict[str, Any]) -> list[Any]:
    """Whether all went well, and whether all are real (of real matrices: `linalg_eig_out_info` of ATen)."""
    return [ANSWER] * (1 if given["self"].is_complex() else 2)


def _unaligned(given: dict[str, Any]) -> list[Any]:
    """How long each sequence and each of its targets is (`ctc_loss` of ATen's LossCTC.cpp), which a GPU's copies tell by themselves,
    real or imitated."""
    if gpu is not None or device is not None:
        return []
    lengths = (given.get("input_lengths"), given.get("target_lengths"))
    return [(*described(one), 0) for one in lengths if isinstance(one, _torch.Tensor) and _may_be_there(one)]


def _one_of(values: Any) -> Any:
    """A single value of these."""
    return (*described(values)[:2], 0, (), 0)


#: Ops after which the host waits to be told how large the result is, or whether all went well, and what it is told for
#: what they are given. Each was seen to on an H100 with PyTorch 2.11, behind a kernel that kept the GPU busy, but for the
#: last, which selects by a mask, and the eigenvalues.
_TOLD: dict[str, Any] = {
    **dict.fromkeys(
        (
            f"aten.{name}"
            for name in (
                "nonzero masked_select _unique _unique2 unique_dim unique_consecutive _linalg_svd _linalg_eigh linalg_lstsq "
                "linalg_pinv linalg_matrix_exp _linalg_check_errors _to_sparse _to_sparse_csr _coalesce masked_scatter_backward"
            ).split()
        ),
        lambda _: [_COUNT],
    ),
    **dict.fromkeys((f"aten.{name}" for name in "index index_put_ index_put _index_put_impl_".split()), _by_mask),
    "aten.allclose": lambda _: [ANSWER],
    "aten.repeat_interleave": _repeated,
    "aten.histc": _range,
    "aten._ctc_loss": _unaligned,
    "aten.bincount": _counted,
    # It begins with whether all it is given is finite. `eigvals` becomes this where its ops are watched, but for `out`.
    "aten.linalg_eig": lambda given: [ANSWER, *_eigenvalues(given)],
    "aten.linalg_eigvals": _eigenvalues,
    "torchvision.nms": lambda _: [_COUNT],
}


def waits(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> bool:
    """Whether the host of a GPU waits for this op to be told something."""
    name, names = func._schema.name.replace("::", "."), (argument.name for argument in func._schema.arguments)
    tells = _TOLD.get(name)
    return name == READ or (tells is not None and bool(tells({**dict(zip(names, args)), **(kwargs or {})})))


def _fills_a_mask(given: dict[str, Any], masks: int) -> bool:
    """Whether one value of the host's is written where one mask says, for which no places are looked up
    (`canDispatchToMaskedFill` of ATen's TensorAdvancedIndexing.cpp)."""
    values = given.get("values")
    if values is None or values.numel() != 1 or given.get("accumulate") or masks != 1:
        return False
    if sum(1 for _ in flat(given["indices"])) != 1:
        return False
    if gpu is not None:
        return bool(values.device.type == "cpu")
    known = _known(values)
    if known is None:
        return True
    if device is not None:
        return known.device == "cpu"
    return (known.aside and _torch_placement.now.aware) or not (known.placed or known.reduced)


class on_device:
    """New storages and ops are on this device, where one is imitated."""

    def __init__(self, name: str = GPU) -> None:
        self.name = name

    def __enter__(self) -> None:
        global device
        self.before = device
        if device is not None:
            device = self.name

    def __exit__(self, *_: object) -> None:
        global device
        device = self.before


def caller() -> Any:
    """The frame that runs, but for ours."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        variables = frame.f_globals
        if id(variables) not in _own:
            if not variables.get("__name__", "").startswith("breakeven."):
                break
            _own.add(id(variables))
        frame = frame.f_back
    return frame


def variables(frame: Any) -> Mapping[str, Any]:
    """The local variables of a frame, which does not keep them for that; `...` where nothing may be asked. Before CPython 3.13 a
    function's frame keeps what it is asked for: what the script deletes would live on, and what it or a debugger looks at
    would change."""
    code = frame.f_code
    if sys.version_info >= (3, 13) or not code.co_flags & _OPTIMIZED:
        return frame.f_locals  # type: ignore[no-any-return]
    if sys.gettrace() is not None or not _LOOKS.isdisjoint(code.co_names) and _looks(code):
        return dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars), ...)
    kept = frame.f_locals
    found = dict(kept)
    if sys.getrefcount(kept) <= _OF_FRAME:
        kept.clear()
    return found


@functools.cache
def _looks(code: Any) -> bool:
    """Whether code calls one of `_LOOKS`, and not a method of that name, as networks have an `eval`."""
    return any(step.argval in _LOOKS and step.opname in ("LOAD_GLOBAL", "LOAD_NAME") for step in dis.get_instructions(code))


def place() -> tuple[Any, int]:
    """The instruction that runs, but for ours."""
    return at(caller())


def at(frame: Any) -> tuple[Any, int]:
    """The instruction that a frame is at; of a call, which CPython 3.11 makes by two until it knows the callee, the second."""
    here = frame.f_code, frame.f_lasti
    found = _calls.get(here)
    if found is None:
        first = dis.opname[here[0].co_code[here[1]]] == "PRECALL"
        found = _calls[here] = here[0], here[1] + _TO_CALL * first
    return found


def now() -> dict[str, Any]:
    """What is the case, by name, as `_native.Reads` asks it."""
    return globals()


def use_stream(number: int | None) -> None:
    """Ops go to this stream from now on; None: the default one."""
    global stream
    stream = number


def crossed(name: str, inputs: list[Any], outputs: list[Any], apart: bool = True) -> None:
    """Arrays were copied between host and GPU; `apart`: in whatever step, told each time."""
    with on_device():
        _native.tensor_event(name, inputs, outputs, [], context(), 0, 0, apart)


def _in_tf32(kind: str) -> bool:
    """Whether the script lets such products of float32 be computed in TF32 on GPUs that can: convolutions and recurrent
    layers it does unless it says otherwise. Asks below what warns."""
    core = _torch._C
    if not core._get_cudnn_enabled():
        kind = "matmul"
    getter = getattr(core, "_get_fp32_precision_getter", None)
    if getter is not None:
        return bool(getter("cuda", kind) == "tf32")
    return bool(core._get_cublas_allow_tf32() if kind == "matmul" else core._get_cudnn_allow_tf32())


def _shortened(arrays: list[Any]) -> list[Any]:
    return [(_TF32, *array[1:]) if array[0] == _FLOAT32 else array for array in arrays]


def _exchanged(op: _Op, given: dict[str, Any], result: Any, own: int, gap: int) -> None:
    """Processes have exchanged tensors, which may be lists of lists: what went in, what came out, among how many."""
    inputs: list[Any] = []
    outputs: list[Any] = []
    for argument, value in given.items():
        tensors = list(flat(value))
        into = argument.startswith("output")
        describe_all(tensors, into, outputs if into else inputs)
        if not into and argument in op.written and "output" not in op.names[0]:
            describe_all(tensors, True, outputs)
    if not op.name.startswith("c10d."):
        describe_all(result, True, outputs)
    keywords = []
    try:
        if "group_name" in given:
            group = _torch.distributed.distributed_c10d._resolve_process_group(given["group_name"])
        else:
            group = _torch.distributed.ProcessGroup.unbox(given["process_group"])
        keywords.append(("ranks", str(group.size())))
    except Exception as error:  # a version that boxes it otherwise
        if _native.of_script(error):
            raise
        keywords.append(("ranks", str(_torch.distributed.get_world_size())))
    _native.tensor_event(op.name, inputs, outputs, keywords, context(given), own, gap)


def flat(value: Any) -> Any:
    """Tensors in a value and in lists within it."""
    if isinstance(value, _torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from flat(part)


def _place(given: dict[str, Any], outputs: list[Any]) -> None:
    """What is computed from what the script put on its device is there too."""
    tensors = ((value, known) for value in flat(list(given.values())) if (known := _known(value)) is not None)
    if not any(_torch_placement.is_there(*pair) for pair in tensors):
        return
    ids = {array[4] for array in outputs}
    for known in itertools.islice(reversed(_live.values()), 8 + len(ids)):
        if known.id in ids and not known.put:
            known.placed = True


def _wrapped(tensor: Any) -> list[Any]:
    """The tensors that one of a class of the script's own, which does their ops, is made of; it has no memory itself."""
    if type(tensor).__torch_dispatch__ is _torch._C._disabled_torch_dispatch_impl:
        return []
    flatten = getattr(type(tensor), "__tensor_flatten__", None)
    parts = [getattr(tensor, name) for name in flatten(tensor)[0]] if flatten is not None else vars(tensor).values()
    return [part for part in parts if isinstance(part, _torch.Tensor)]


def _known(value: Any) -> Stored | None:
    if type(value) not in plain:
        if not isinstance(value, _torch.Tensor) or _is_fake(value):
            return None
        if wrapped := _wrapped(value):
            return _known(wrapped[0])
    try:
        return _live.get(value.untyped_storage()._cdata)
    except ValueError:  # a parameter that has no shape yet answers nothing
        with _torch._C.DisableTorchFunctionSubclass():
            return _live.get(value.untyped_storage()._cdata)
    except REFUSED:
        *_, values = _torch_sparse.parts(value)
        return _known(values if values is not value else _within_transform(value))


def _within_transform(tensor: Any) -> Any:
    """What `vmap`, `grad` and their kin wrap while they go through a function."""
    core = _torch._C._functorch
    return core.get_unwrapped(tensor) if core.is_functorch_wrapped_tensor(tensor) else None


def context(given: dict[str, Any] | None = None, there: str | None = None, aside: bool = False) -> int:
    """The number of the phase, device, stream and module path as they are now; `there` is a real GPU, what stays `aside` is
    the host's."""
    now = phase
    if path and now not in ("backward", "data"):
        now = "forward"
    elif now is None and given is not None:
        if any(getattr(value, "requires_grad", False) for value in given.values()):
            now = "forward"
    imitated = device is not None and device != "cpu"
    if aside and _torch_placement.now.aware:
        now, aside = "data", False
    elif now == "data" and given is not None and _torch_placement.now.aware:
        now = None  # a loader's, of a set that is on the device
    key = (now, device if imitated else there, stream if imitated else None, path[-1] if path else None, graph, aside)
    number = _contexts.get(key)
    if number is None:
        number = _contexts[key] = _native.tensor_context(*key)
    return number
