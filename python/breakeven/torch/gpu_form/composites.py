"""Ops that do what several others do, told as those: a layer of a transformer's encoder as it runs without a gradient,
what takes the padding of its sequences away and puts it back, bilinear layers, `one_hot`, and `equal`, which may do
nothing.

What a GPU runs for each stands in ATen's transformer.cpp, cuda/attention.cu, NestedTensorMath.cpp,
cuda/NestedTensorTransformerFunctions.cpp, Linear.cpp and Onehot.cpp.
"""

from __future__ import annotations

import functools

from ... import _native
from ...events import recorder
from ..describe import contexts, operands, storages, tf32
from ..no_gpu import placement
from ..session import ACTIVATION, no_gpu, of_several, session
from ..steps import sampler
from ..trace import syncs
from . import attention, fused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


_INT32, _INT64, _BOOL = (5, 4), (7, 8), (0, 1)


class Told:
    """What one op is told as: others, whose results come and go as on a GPU."""

    def __init__(self, context: int, there: bool, own: int, gap: int) -> None:
        self.context, self.there, self.own, self.gap = context, there, own, gap
        self.shortens = tf32.in_tf32("matmul")

    def into(self, name: str, inputs: list[Any], outputs: list[Any], *keywords: tuple[str, str]) -> None:
        """An op with these results; the first takes the time of all."""
        if self.shortens and f"aten.{name}" in tf32.PRODUCTS:
            inputs, outputs = tf32.shortened(inputs), tf32.shortened(outputs)
        recorder.op(f"aten.{name}", inputs, outputs, list(keywords), self.context, self.own, self.gap)
        self.own = self.gap = 0

    def op(
        self, name: str, inputs: list[Any], shape: tuple[int, ...], *keywords: tuple[str, str], like: Any = None
    ) -> Any:
        """What an op gives that makes an array, of the type of its first one."""
        array = self.made((inputs[0] if like is None else like)[:2], shape)
        self.into(name, inputs, [array], *keywords)
        return array

    def made(self, kind: tuple[int, int], shape: tuple[int, ...]) -> Any:
        """An array that takes memory until it is freed."""
        count = kind[1] * operands.count_of(shape)
        return (*kind, 0, shape, _native.storage_new(count, ACTIVATION, not self.there, True))

    def copied(self, kind: tuple[int, int], *shape: int) -> None:
        """An array of the host's has been copied to the GPU."""
        if self.there and session.phase != "data":
            contexts.crossed(recorder.TO_DEVICE, [], [(*kind, 0, shape, 0)], False)

    def read(self, array: Any) -> None:
        """The host has waited for this."""
        if self.there and session.phase != "data":
            recorder.to_host(array, self.context)


def install(torch: Any) -> None:
    """Have these told so."""
    of_several.update({name: functools.partial(_tell, each) for name, each in _OPS.items()})
    if session.device is None:
        fused.stand_in(torch.nn.functional, "one_hot", _one_hot_begins, _one_hot_ends)
        torch._C._nn.one_hot = torch.nn.functional.one_hot  # where it says that it comes from: it pickles as that


def _tell(each: Any, given: dict[str, Any], outputs: list[Any], context: int, there: bool, own: int, gap: int) -> None:
    """One of these has run. Its results take memory when all that comes before has been told."""
    sizes = [(array[4], operands.size(array)) for array in outputs if array[4]]
    for storage, _ in sizes:
        _native.storage_resized(storage, 0)
    each(given, outputs, Told(context, there, own, gap))
    for storage, size in sizes:
        _native.storage_resized(storage, size)


def _freed(*arrays: Any) -> None:
    for array in arrays:
        _native.storage_freed(array[4])


def _shaped(array: Any, *shape: int) -> Any:
    """The same memory in another shape."""
    return (*array[:2], 0, shape, array[4])


def _of(given: dict[str, Any], *names: str) -> list[Any]:
    return [operands.describe(given[name]) for name in names]


class _Sequences:
    """A batch of sequences, padded or, nested, one after the other."""

    def __init__(self, tensor: Any, width: int) -> None:
        self.width, self.nested = width, tensor.is_nested
        arrays: list[Any] = []
        operands.describe_all(tensor, False, arrays)
        if self.nested:
            core = session.torch._C
            with core._DisableTorchDispatch(), core.DisableTorchFunction():
                lengths = [part.shape[0] for part in tensor.unbind()]
        else:
            lengths = [arrays[-1][3][1]] * arrays[-1][3][0]
        self.count, self.longest, self.rows = len(lengths), max(lengths, default=0), sum(lengths)
        self.pairs = sum(length * length for length in lengths)
        self.array = _shaped(arrays[-1], self.rows, width)


def _encoder_layer(given: dict[str, Any], outputs: list[Any], told: Told) -> None:
    width = given["embed_dim"]
    batch = _Sequences(given["src"], width)
    if not batch.rows:
        return
    x = source = batch.array
    norms = [_of(given, f"norm_weight_{which}", f"norm_bias_{which}") for which in (1, 2)]
    w1, b1, w2, b2 = _of(given, "ffn_weight_1", "ffn_bias_1", "ffn_weight_2", "ffn_bias_2")
    first = given["norm_first"]
    if first:
        x = _normed(x, norms[0], told)
    attended = _attention(given, batch, x, told)
    told.into("add_", [attended, source], [attended])
    if first:
        _freed(x)
        kept, x = attended, _normed(attended, norms[1], told)
    else:
        kept = x = _normed(attended, norms[0], told)
        _freed(attended)
    hidden = told.op("_addmm_activation", [b1, x, _turned(w1)], (batch.rows, w1[3][0]), like=x)
    y = told.op("addmm", [b2, hidden, _turned(w2)], (batch.rows, width), like=x)
    _freed(hidden)
    last = _shaped(outputs[0], *y[3])
    if first:
        told.into("add_", [y, kept], [last])
        _freed(x)
    else:
        told.into("add_", [y, kept], [y])
        _normed(y, norms[1], told, last)
    _freed(y, kept)


def _normed(x: Any, affine: list[Any], told: Told, into: Any = None) -> Any:
    each_row = (*x[:2], 0, (x[3][0], 1), 0)
    array = told.made(x[:2], x[3]) if into is None else into
    told.into("native_layer_norm", [x, *affine], [array, each_row, each_row])
    return array


def _turned(weight: Any) -> Any:
    return (*weight[:2], 1, weight[3][::-1], weight[4])


def _multi_head(given: dict[str, Any], outputs: list[Any], told: Told) -> None:
    batch = _Sequences(given["query"], given["embed_dim"])
    if batch.rows:
        _attention(given, batch, batch.array, told, _shaped(outputs[0], *batch.array[3]))


def _attention(given: dict[str, Any], batch: _Sequences, x: Any, told: Told, into: Any = None) -> Any:
    """Of a sequence with itself: its three products, by one kernel or with scores that take memory, and the product of
    what comes of it."""
    w_in, b_in, w_out, b_out = _of(given, "qkv_weight", "qkv_bias", "proj_weight", "proj_bias")
    heads = given["num_heads"] if "num_heads" in given else given["num_head"]
    each = batch.width // heads
    three = batch.rows, 3 * batch.width
    tensor = given["src"] if "src" in given else given["query"]
    weights = given.get("need_weights", "src" not in given)
    scores = weights or given.get("mask") is not None or each % 8 or not attention.allows_one({"query": tensor})
    if scores:
        mixed = _by_scores(given, batch, told.op("mm", [x, _turned(w_in)], three), b_in, (heads, each), weights, told)
    else:
        qkv = told.op("addmm", [b_in, x, _turned(w_in)], three, like=x)
        mixed = _by_one_kernel(batch, qkv, heads, each, told)
        _freed(qkv)
    result = told.made(x[:2], x[3]) if into is None else into
    told.into("addmm", [b_out, _shaped(mixed, batch.rows, batch.width), _turned(w_out)], [result])
    _freed(mixed)
    return result


def _by_one_kernel(batch: _Sequences, qkv: Any, heads: int, each: int, told: Told) -> Any:
    if batch.nested:
        for _ in ("queries", "keys"):
            told.copied(_INT32, batch.count + 1)  # where each begins
    # The engine knows sequences of one length: those that have as many pairs.
    count, pairs = batch.count, batch.pairs
    mean = max(1, round(pairs / batch.rows))
    lengths = range(mean, batch.longest + 1)
    keys = min(lengths, key=lambda n: abs(pairs - count * round(pairs / (count * n)) * n), default=mean)
    queries = max(1, round(pairs / (count * keys)))
    arrays = [_shaped(qkv, count, heads, length, each) for length in (queries, keys, keys)]
    result = told.made(qkv[:2], (batch.rows, batch.width))
    told.into("_scaled_dot_product_flash_attention_for_cpu", arrays, [_shaped(result, count, heads, queries, each)])
    return result


def _by_scores(
    given: dict[str, Any], batch: _Sequences, qkv: Any, bias: Any, shape: tuple[int, int], weights: bool, told: Told
) -> Any:
    """What a GPU's own kernels do where none has it all, with padding."""
    (heads, each), (count, length) = shape, (batch.count, batch.longest)
    if batch.nested:
        told.copied(_INT32, 2 * count + 1)
    three = told.op("add", [qkv, bias], (3, count, heads, length, each))
    _freed(qkv)
    rows, columns = (count * heads, length, each), (count * heads, each, length)
    products = told.op("bmm", [_shaped(three, *rows), _shaped(three, *columns)], (count * heads, length, length))
    mask = given.get("mask")
    masks = [operands.describe(mask)] if mask is not None else []
    if batch.nested:
        told.copied(_BOOL, count, length)
        masks = [(*_BOOL, 0, (count, length), 0)]
    softened = told.op("_masked_softmax" if masks else "_softmax", [products, *masks], products[3], ("axis", "-1"))
    _freed(products)
    told.into("bmm", [softened, _shaped(three, *rows)], [_shaped(three, *rows)])
    if weights and given.get("average_attn_weights", True):
        by_head = _shaped(softened, count, heads, length, length)
        mean = told.op("sum", [by_head], (count, length, length), ("axis", "[1]"))
        told.into("div_", [mean], [mean])
        _freed(mean)
    _freed(softened)
    if batch.nested:
        told.copied(_INT32, 3 * count + 5)
    mixed = told.op("clone", [_shaped(three, count, heads, length, each)], (batch.rows, batch.width))
    _freed(three)
    return mixed


def lengths(count: int) -> Any:
    """What the host reads of so many sequences: how long and how wide each is."""
    return (*_INT64, 0, (count, 2), 0)


def _sums(given: dict[str, Any], told: Told) -> Any:
    """How long each sequence is by its mask, which is looked through twice: for its ones, and for the first zero."""
    mask = operands.describe(given["mask"])
    count, length = mask[3]
    pad = told.op("zeros", [], (count, 1), like=mask)
    longer = told.op("cat", [mask, pad], (count, length + 1))
    numbers = told.op("_to_copy", [longer], longer[3], like=_INT32)
    _freed(longer, pad)
    zero = told.op("argmin", [numbers], (count,), ("axis", "1"), like=_INT64)
    _freed(numbers, zero)
    return told.op("cumsum", [mask], mask[3], ("axis", "1"), like=_INT64)


def _is_left_aligned(given: dict[str, Any], outputs: list[Any], told: Told) -> None:
    sums = _sums(given, told)
    told.into("eq", [_shaped(sums, sums[3][0])] * 2, [(*_BOOL, 0, (sums[3][0],), 0)])
    _freed(sums)
    told.read(syncs.ANSWER)


def _without_padding(given: dict[str, Any], outputs: list[Any], told: Told) -> None:
    sums = _sums(given, told)
    count = sums[3][0]
    widths = told.op("full_like", [_shaped(sums, count, 1)], (count, 1))
    pairs = told.op("cat", [_shaped(sums, count, 1), widths], (count, 2))
    told.read(lengths(count))
    _freed(sums, widths, pairs)
    told.copied(_INT32, 3 * count + 4)
    # It reads what it keeps.
    told.into("clone", [(*outputs[0][:4], _of(given, "t")[0][4])], outputs)


def _with_padding(given: dict[str, Any], outputs: list[Any], told: Told) -> None:
    arrays: list[Any] = []
    operands.describe_all(given["self"], False, arrays)
    dims = len(outputs[0][3])
    if dims == 3 and given.get("output_size") is None:
        dims = 2  # of rows of equal width, which count as one
    told.copied(_INT32, dims * outputs[0][3][0] + 1)  # where each begins, and its shape
    told.into("constant_pad_nd", arrays[-1:], outputs)


def _equal(given: dict[str, Any], outputs: list[Any], told: Told) -> None:
    """A GPU compares, and the host waits for it, unless shapes or memory tell already (`cuda_equal` of Equal.cpp)."""
    one, other = given["self"], given["other"]
    arrays: list[Any] = []
    operands.describe_all([one], False, arrays)
    operands.describe_all([other], False, arrays)
    if one.shape != other.shape or one.numel() == 0 or _is_same(one, other):
        told.into("detach", arrays[:1], arrays[:1])  # for its time here
    else:
        told.into("equal", arrays, [])
        told.read(syncs.ANSWER)


def _is_same(one: Any, other: Any) -> bool:
    """Whether both are the same memory seen in the same way."""
    strided = all(type(each) in session.plain and each.layout is session.torch.strided for each in (one, other))
    if not strided or one.dtype != other.dtype or storages.known_storage(one) is not storages.known_storage(other):
        return False
    return bool(one.storage_offset() == other.storage_offset() and one.stride() == other.stride())


def _one_hot_begins(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Of what is on the device of a script without a GPU: no GPU looks whether each number is that of a class."""
    index, classes = (*args, kwargs.get("num_classes", -1))[:2] if args else (None, None)
    if type(index) not in session.plain or not no_gpu.aware or sampler.unseen():
        return None
    tracing = session.torch._C._get_tracing_state() is not None
    if tracing or session.gpu is not None or not placement.where(index) or index.numel() == 0:
        return None
    call = fused.Call("aten.scatter_", index)
    call.precision = "matmul"
    array = operands.describe(index)
    call.forward = [([array], [])]
    if classes == -1:
        told = Told(contexts.context(), True, 0, 0)
        most = told.op("max", [array], ())
        told.read(most)
        _freed(most)
    return call


def _one_hot_ends(call: Any, result: Any) -> None:
    known = storages.known_storage(result)
    if known is not None:
        known.placed = True
        storages.assign(result, storages.role_of(result, True))
    ([index], _), made = call.forward[0], operands.describe(result)
    told = Told(contexts.context(), True, 0, 0)
    told.into("new_zeros", [index], [made])
    column = _shaped(index, *index[3], 1)
    told.into("unsqueeze", [index], [column])
    call.forward = [([made, column], [made])]


def _trilinear(given: dict[str, Any], outputs: list[Any], told: Told) -> None:
    """Sums of products of three arrays, for each place in one dimension after the other: two at a time."""
    output, arrays = outputs[0], _of(given, "i1", "i2", "i3")
    expands = [given[f"expand{which}"] for which in (1, 2, 3)]
    summed, each = set(given["sumdim"]), given.get("unroll_dim", 1)
    every = range(len(arrays[0][3]) + len(expands[0]))
    dims = [[dim for dim in every if dim not in expand] for expand in expands]
    sizes = {dim: size for array, mine in zip(arrays, dims) for dim, size in zip(mine, array[3])}
    told.into("zeros", [], [output])
    if 0 in sizes.values():
        return
    one, two, three = ({*mine} - {each} for mine in dims)
    both, last = (one | two) - (summed - three), (one | two | three) - summed
    for _ in range(sizes[each]):
        half = _contracted(told, sizes, (arrays[0], one), (arrays[1], two), both)
        part = _contracted(told, sizes, (half, both), (arrays[2], three), last)
        told.into("add_", [_shaped(output, *part[3]), part], [_shaped(output, *part[3])])
        _freed(half, part)


def _contracted(
    told: Told, sizes: dict[int, int], a: tuple[Any, set[int]], b: tuple[Any, set[int]], left: set[int]
) -> Any:
    """The products of two arrays, summed but for some dimensions."""

    def count(dims: set[int]) -> int:
        return operands.count_of(tuple(sizes[dim] for dim in dims))

    (x, of_x), (y, of_y) = a, b
    if of_x | of_y == left:
        return told.op("mul", [_shaped(x, count(of_x)), _shaped(y, count(of_y))], (count(left),))
    times, over = count(of_x & of_y & left), count((of_x & of_y) - left)
    rows, columns = count(of_x - of_y), count(of_y - of_x)
    return told.op("bmm", [_shaped(x, times, rows, over), _shaped(y, times, over, columns)], (times, rows, columns))


#: What tells of each of them.
_OPS: dict[str, Callable[[dict[str, Any], list[Any], Told], None]] = {
    "aten._transformer_encoder_layer_fwd": _encoder_layer,
    "aten._native_multi_head_attention": _multi_head,
    "aten._nested_tensor_from_mask_left_aligned": _is_left_aligned,
    "aten._nested_tensor_from_mask": _without_padding,
    "aten.to_padded_tensor": _with_padding,
    "aten._trilinear": _trilinear,
    "aten.equal": _equal,
}
