"""An op of PyTorch as the native table takes it: name, shapes, storages, what the shapes do not tell."""

from __future__ import annotations

import itertools

from ... import _native
from ...events import recorder
from .. import frames, real_gpu
from ..describe import contexts, likes, operands, sparse, storages, tf32
from ..no_gpu import placement
from ..session import FILLING, GRADIENT, PARAMETER, READ, no_gpu, of_several, reads, session
from . import syncs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ops: dict[Any, _Op] = {}

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
#: Powers, and exponents that the engine is told: those of few, as each is a name of its own.
_POWERS, _QUICK = ("aten.pow", "aten.pow_"), (0, 1, 2, 3, 0.5, -0.5, -1, -2)
#: The soft-max of attention that is taken apart.
_OF_ATTENTION = "aten._safe_softmax"
#: An optimizer works out its own counters.
_COUNTER = "torch.host_scalar"


_FUNCTIONAL = ("_c10d_functional", "_c10d_functional_autograd")


class _Op:
    """What is looked up once for each overload."""

    __slots__ = ("changed", "collective", "each", "fills", "keywords", "makes", "name", "names", "overwrites",
    "product", "several",
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
        self.collective = library == "c10d" or (
            library in _FUNCTIONAL and "wait" not in action and "wrap" not in action
        )
        self.product = tf32.PRODUCTS.get(self.name)
        self.several = of_several.get(self.name)
        self.overwrites = self.name.partition(".")[2] in _OVERWRITE
        self.keywords = [(i, name) for i, name in enumerate(self.names) if name in _KEYWORDS]


def after(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None, result: Any, own: int, gap: int) -> None:
    """An op has just run."""
    if session.part_of_whole(result, own, gap) or storages.is_nowhere(result):
        return
    op = _ops.get(func)
    if op is None:
        op = _ops[func] = _Op(func)
    session.there = None
    given = dict(zip(op.names, args))
    if kwargs:
        given.update(kwargs)
    for argument in op.changed:
        for tensor in given.get(argument, ()):
            session.torch.autograd.graph.increment_version(tensor)
    if op.collective:
        _exchanged(op, given, result, own, gap)
        return
    if op.fills:
        storages.filled(args)
    inputs: list[Any] = []
    name, factors = op.name, sparse.factors(op.name, args)
    if factors is not None:
        name, inputs = sparse.PRODUCT, sparse.described(*factors)
    unknown = (
        op.name == READ
        and reads.get(frames.place(), session.device not in (None, "cpu"))
        and storages.known_storage(args[0]) is None
    )
    first = True
    for value in given.values() if factors is None else ():
        if not (first and op.overwrites):
            operands.describe_all(value, False, inputs)
        elif isinstance(value, session.torch.Tensor):
            inputs.append((*operands.describe(value, True)[:4], 0))
        first = False
    outputs: list[Any] = []
    session.gives = op, given
    aside = no_gpu.tells and placement.begins(op, given)
    operands.describe_all(result, True, outputs, op.each)
    session.gives = None
    if no_gpu.tells:
        if from_host := placement.indices(op.name, given):
            inputs = placement.sends(from_host, inputs)
        placement.ends(result)
    if not outputs:
        for argument in op.written:
            operands.describe_all(given.get(argument), True, outputs, op.each)
    keywords = [(_KEYWORDS[word], str(given[word])) for _, word in op.keywords if word in given]
    if op.name in _POWERS and (exponent := given.get("exponent")).__class__ in (int, float) and exponent in _QUICK:
        keywords.append(("exponent", str(exponent)))
    if _gives_numbers(op, given, outputs) and _is_counter(given, result):
        name = _COUNTER
    whole = inputs, outputs
    if op.product and factors is None and tf32.in_tf32(op.product):
        inputs, outputs = tf32.shortened(inputs), tf32.shortened(outputs)
    if unknown:
        inputs = [(*operands.described(args[0]), 0)]  # made while nobody watched
    if session.there is None:
        crosses = placement.crosses(op.name, given) if no_gpu.aware else None
    else:
        crosses = real_gpu.crosses(name, given, result)
    if crosses is not None:
        name, inputs, outputs, keywords = crosses
    elif session.gpu is None and not aside:
        _place(given, outputs)
    there = (
        (session.device != "cpu" and not (aside and no_gpu.aware)) if session.gpu is None else session.there is not None
    )
    # What crosses is told in each step, and so is what Python reads. What C++ reads is seen with its step alone.
    seen = session.there is not None and op.name != real_gpu.FILLED
    apart = session.asking > 0 if name == READ else None if crosses is None else seen
    now = contexts.context(given, session.there, aside and name != _COUNTER)  # counters are no data
    if session.together is not None and session.together(name, inputs, outputs, keywords, now, own, gap):
        return
    if op.several is not None:
        op.several(given, whole[1], now, there, own, gap)
        return
    counts = recorder.op(name, inputs, outputs, keywords, now, own, gap, apart)
    if no_gpu.sent and session.gpu is None:
        placement.send(result)
    if op.name == placement.PACKS and no_gpu.tells:
        placement.stay(result[1])
    if op.product == "conv":
        _biased(given, *whole, now)
    if (
        op.name == _OF_ATTENTION
        and args[0].dtype != session.torch.float64
        and session.torch._C._get_flash_sdp_enabled()
    ):
        recorder.unseen("attention", "attention was recorded as the products that the CPU takes it apart into: a GPU "
                                    "has one kernel for it, "
                       "which takes less time and memory")  # fmt: skip
    if name == READ:
        at_read = frames.place()
        reads[at_read] = counts and there
        likes.is_read(at_read, args[0], counts and there)
        if no_gpu.tells:
            placement.is_read(storages.known_storage(args[0]), READ)
        session.optimizer_asks |= session.phase == "optimizer"
    elif there and session.phase != "data" and (tells := syncs.TOLD.get(op.name)):
        for told in tells(given):
            recorder.to_host(told, now)


def _gives_numbers(op: _Op, given: dict[str, Any], outputs: list[Any]) -> bool:
    """Whether all that an op gives, or changes of a list, are single values."""
    if op.changed:
        return not any(tensor.dim() for argument in op.changed for tensor in given.get(argument, ()))
    return not any(len(array[3]) for array in outputs)


def _is_counter(given: dict[str, Any], result: Any) -> bool:
    """Whether an op, which gives single values or none, is on an optimizer's own counters: on a GPU, too, it keeps
    them on the host. What it reduces arrays to is none, nor is a parameter of one value."""
    tensors = list(storages.flat(list(given.values())))
    reduced = any(tensor.dim() for tensor in tensors)
    if not reduced:
        known = [known for tensor in tensors if (known := storages.known_storage(tensor)) is not None]
        if session.gpu is not None:
            reduced = session.there is not None
        elif session.device is not None:
            reduced = any(one.device != "cpu" for one in known)
        else:
            reduced = any(one.reduced or one.role in (PARAMETER, GRADIENT) for one in known)
    if not reduced:
        return session.phase == "optimizer"
    for value in storages.flat(result):
        if (made := storages.known_storage(value)) is not None:
            made.reduced = True
    return False


def _biased(given: dict[str, Any], inputs: list[Any], outputs: list[Any], there: int) -> None:
    """What a GPU does about a convolution's bias in calls of their own, and a CPU within the convolution: cuDNN's
    add none, PyTorch's depth-wise kernels do; the gradient is a sum over pictures and places."""
    if "output_mask" in given:
        if given["output_mask"][2] and outputs:
            around = (0, *range(2, len(inputs[0][3])))
            recorder.op("aten.sum", [inputs[0]], [outputs[-1]], [("axis", str(around))], there, 0, 0)
    elif given.get("bias") is not None and not 1 < given.get("groups", 1) == given["input"].shape[1]:
        code, size, layout, shape, storage = inputs[-1]
        bias = (code, size, layout, (*shape, *[1] * (len(outputs[0][3]) - 2)), storage)
        recorder.op("aten.add_", [outputs[0], bias], [outputs[0]], [], there, 0, 0)


def _exchanged(op: _Op, given: dict[str, Any], result: Any, own: int, gap: int) -> None:
    """Processes have exchanged tensors, which may be lists of lists: what went in, what came out, among how many."""
    inputs: list[Any] = []
    outputs: list[Any] = []
    for argument, value in given.items():
        tensors = list(storages.flat(value))
        into = argument.startswith("output")
        operands.describe_all(tensors, into, outputs if into else inputs)
        if not into and argument in op.written and "output" not in op.names[0]:
            operands.describe_all(tensors, True, outputs)
    if not op.name.startswith("c10d."):
        operands.describe_all(result, True, outputs)
    keywords = []
    try:
        if "group_name" in given:
            group = session.torch.distributed.distributed_c10d._resolve_process_group(given["group_name"])
        else:
            group = session.torch.distributed.ProcessGroup.unbox(given["process_group"])
        keywords.append(("ranks", str(group.size())))
    except Exception as error:  # a version that boxes it otherwise
        if _native.of_script(error):
            raise
        keywords.append(("ranks", str(session.torch.distributed.get_world_size())))
    recorder.op(op.name, inputs, outputs, keywords, contexts.context(given), own, gap)


def _place(given: dict[str, Any], outputs: list[Any]) -> None:
    """What is computed from what the script put on its device is there too."""
    tensors = (
        (value, known)
        for value in storages.flat(list(given.values()))
        if (known := storages.known_storage(value)) is not None
    )
    if not any(placement.is_there(*pair) for pair in tensors):
        return
    ids = {array[4] for array in outputs}
    for known in itertools.islice(reversed(storages.alive.values()), 8 + len(ids)):
        if known.id in ids and not known.put:
            known.placed = True
