"""Operations that are several primitives, or whose primitive needs more than shapes: products, convolutions, losses."""

from __future__ import annotations

from .operation import Build, Operation, Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .operation import Fact

    Rule = Callable[[Operation, Build, Sequence[int], Sequence[int]], None]


def product(op: Operation, build: Build, reads: Sequence[int], gives: Sequence[int]) -> None:
    """`MatMul` and its batched kin: rows of the first by columns of the second."""
    left, right = op.reads[0].shape, op.reads[1].shape
    turned = [bool(op.attribute(name)) for name in _TURNED[op.type]]
    rank = len(left)
    facts: dict[str, Fact] = {
        "contract": [rank - 2 if turned[0] else rank - 1],
        "contract_right": [len(right) - 1 if turned[1] else len(right) - 2],
        "batch": list(range(rank - 2)),
        "batch_right": list(range(len(right) - 2)),
    }
    build.node("dot_general", reads[:2], gives, facts)


_TURNED = {
    "MatMul": ("transpose_a", "transpose_b"),
    "BatchMatMul": ("adj_x", "adj_y"),
    "BatchMatMulV2": ("adj_x", "adj_y"),
    "BatchMatMulV3": ("adj_x", "adj_y"),
    "_FusedMatMul": ("transpose_a", "transpose_b"),
}


def einsum(op: Operation, build: Build, reads: Sequence[int], gives: Sequence[int]) -> None:
    """`Einsum` of two tensors as one product; of one as a fold."""
    equation = op.attribute("equation")
    text = equation.decode() if isinstance(equation, bytes) else str(equation)
    given, _, result = text.partition("->")
    sides = [_letters(side, tensor) for side, tensor in zip(given.split(","), op.reads)]
    result = _letters(result, op.gives[0])
    if len(sides) == 1:
        build.node("reduce_sum", reads, gives, {"axes": [i for i, a in enumerate(sides[0]) if a not in result]})
        return
    left, right = sides[:2]
    both = [letter for letter in left if letter in right]
    summed = [letter for letter in both if letter not in result]
    batch = [letter for letter in both if letter in result]
    build.node(
        "dot_general",
        reads[:2],
        gives,
        {
            "contract": [left.index(a) for a in summed],
            "contract_right": [right.index(a) for a in summed],
            "batch": [left.index(a) for a in batch],
            "batch_right": [right.index(a) for a in batch],
        },
    )


def _letters(side: str, tensor: Tensor) -> str:
    """An operand's letters; those that `...` stands for are digits."""
    named = side.replace("...", "")
    return side.replace("...", "".join(str(i) for i in range(len(tensor.shape) - len(named)))).strip()


def convolution(op: Operation, build: Build, reads: Sequence[int], gives: Sequence[int]) -> None:
    """`Conv2D`, its gradients and depth-wise kin, in two or three dimensions."""
    backward = "Backprop" in op.type
    to_filter = "Filter" in op.type
    if to_filter:
        image, kernel, result = op.reads[0], op.gives[0], op.reads[2]
        operands = [reads[0], reads[2]]
    elif backward:
        image, kernel, result = op.gives[0], op.reads[1], op.reads[2]
        operands = [reads[1], reads[2]]
    else:
        image, kernel, result = op.reads[0], op.reads[1], op.gives[0]
        operands = list(reads[:2])
    layout = op.attribute("data_format")
    layout = layout.decode() if isinstance(layout, bytes) else str(layout or "NHWC")
    first = layout.startswith("NC")
    depthwise = op.type.startswith("Depthwise")
    spatial = slice(2, None) if first else slice(1, -1)
    channel = 1 if first else -1
    cin = image.shape[channel]
    inner = kernel.shape[-2]
    facts: dict[str, Fact] = {
        "batch": image.shape[0],
        "cin": cin,
        "cout": result.shape[channel],
        "groups": cin if depthwise else max(1, cin // max(1, inner)),
        "input": list(image.shape[spatial]),
        "kernel": list(kernel.shape[:-2]),
        "output": list(result.shape[spatial]),
    }
    if backward:
        facts["pass"] = "backward_weight" if to_filter else "backward_data"
    build.node("conv_general_dilated", operands, gives, facts)


def softmax(op: Operation, build: Build, reads: Sequence[int], gives: Sequence[int]) -> None:
    """Largest of each row, exponentials of what is below it, their sum, the share of each."""
    logits = op.reads[0]
    rows = Tensor(logits.dtype, logits.shape[:-1])
    axes: dict[str, Fact] = {"axes": [len(logits.shape) - 1]}
    largest = build.step("reduce_max", [reads[0]], rows, axes)
    below = build.step("sub", [reads[0], largest], logits)
    powers = build.step("exp", [below], logits)
    total = build.step("reduce_sum", [powers], rows, axes)
    if op.type == "LogSoftmax":
        build.node("sub", [below, build.step("log", [total], rows)], gives[:1])
    else:
        build.node("div", [powers, total], gives[:1])


def cross_entropy(op: Operation, build: Build, reads: Sequence[int], gives: Sequence[int]) -> None:
    """The loss of each row and its gradient."""
    logits = op.reads[0]
    rows = Tensor(logits.dtype, logits.shape[:-1])
    axes: dict[str, Fact] = {"axes": [len(logits.shape) - 1]}
    largest = build.step("reduce_max", [reads[0]], rows, axes)
    below = build.step("sub", [reads[0], largest], logits)
    powers = build.step("exp", [below], logits)
    total = build.step("reduce_sum", [powers], rows, axes)
    part = build.step("mul", [below, reads[1]], logits)
    build.node("reduce_sum", [part], gives[:1], axes)
    shares = build.step("div", [powers, total], logits)
    build.node("sub", [shares, reads[1]], gives[1:2])


def batch_norm(op: Operation, build: Build, reads: Sequence[int], gives: Sequence[int]) -> None:
    """`FusedBatchNorm` in training: sums over all but the channels, then each element; else the latter alone."""
    image = op.reads[0]
    layout = op.attribute("data_format")
    layout = layout.decode() if isinstance(layout, bytes) else str(layout or "NHWC")
    channel = 1 if layout.startswith("NC") else len(image.shape) - 1
    axes: dict[str, Fact] = {"axes": [i for i in range(len(image.shape)) if i != channel]}
    row = Tensor(image.dtype, (image.shape[channel],))
    backward = op.type.startswith("FusedBatchNormGrad")
    first = reads[1] if backward else reads[0]
    if backward or op.attribute("is_training") in (True, None):
        mean = build.step("reduce_sum", [first], row, axes)
        squares = build.step("mul", [first, reads[0]], image)
        spread = build.step("reduce_sum", [squares], row, axes)
    else:
        mean, spread = reads[3], reads[4]
    centred = build.step("sub", [first, mean], image)
    build.node("mul", [centred, spread], gives[:1])
    for number in gives[1:5]:
        build.node("mul", [mean, spread], [number])


def window(op: Operation, build: Build, reads: Sequence[int], gives: Sequence[int]) -> None:
    """Pooling and its gradients: windows by what they hold."""
    sizes = [int(size) for size in (op.attribute("ksize") or (1,))]
    name = {"M": "reduce_window_max", "A": "reduce_window_sum"}[op.type[0]]
    operands = reads[:1]
    if op.type.endswith("Grad"):
        # What is given back goes to the largest of each window, or to all of it.
        name = "select_and_scatter_add"
        operands = reads[-1:] if op.type.startswith("Avg") else [reads[-1], reads[0]]
    build.node(name, operands, gives, {"window_dimensions": sizes})


def several(*steps: str) -> Rule:
    """One element-wise primitive after the other, each of what the one before gives and what the operation reads."""

    def rule(op: Operation, build: Build, reads: Sequence[int], gives: Sequence[int]) -> None:
        at = list(reads)
        for step in steps[:-1]:
            at = [build.step(step, at, op.gives[0]), *reads[1:]]
        build.node(steps[-1], at, gives[:1])

    return rule


def sum_of_all(op: Operation, build: Build, reads: Sequence[int], gives: Sequence[int]) -> None:
    """`AddN`."""
    at = reads[0]
    for number in reads[1:-1]:
        at = build.step("add", [at, number], op.gives[0])
    build.node("add", [at, reads[-1]], gives)


def assigned(op: Operation, build: Build, reads: Sequence[int], gives: Sequence[int]) -> None:
    """`AssignAddVariableOp`: the variable's new value, of its own shape."""
    name = "sub" if "Sub" in op.type else "add"
    build.effects.append(build.step(name, [build.given(op.reads[1]), reads[1]], op.reads[1]))


def optimizer(count: int) -> Rule:
    """`ResourceApplyAdam` and its kind: one kernel over a variable, its `count` slots and its gradient."""

    def rule(op: Operation, build: Build, reads: Sequence[int], gives: Sequence[int]) -> None:
        gradient = max(op.reads, key=lambda tensor: tensor.count)
        slots = [build.given(gradient) for _ in range(count)]
        at = reads[list(op.reads).index(gradient)]
        for slot in slots:
            at = build.step("mul", [slot, at], gradient)
            at = build.step("add", [slot, at], gradient)
            build.effects.append(at)

    return rule


def top(op: Operation, build: Build, reads: Sequence[int], gives: Sequence[int]) -> None:
    """`TopKV2`."""
    build.node("top_k", reads[:1], gives, {"axis": len(op.reads[0].shape) - 1})


def one_hot(op: Operation, build: Build, reads: Sequence[int], gives: Sequence[int]) -> None:
    """Each place compared with the number of its column."""
    build.node("eq", reads[:1], gives)


def transform(op: Operation, build: Build, reads: Sequence[int], gives: Sequence[int]) -> None:
    """Transforms over the last one, two or three axes."""
    axes = {"2": 2, "3": 3}.get(op.type[-2:-1] if op.type.endswith("D") else op.type[-1], 1)
    real = op.gives[0] if op.type.startswith("IRFFT") else op.reads[0]
    kind = "r2c" if op.type.startswith("RFFT") else "c2r" if op.type.startswith("IRFFT") else "c2c"
    build.node("fft", reads[:1], gives, {"kind": kind, "fft_lengths": list(real.shape[-axes:])})


def solve(op: Operation, build: Build, reads: Sequence[int], gives: Sequence[int]) -> None:
    """`MatrixSolve`: factors, and two triangular solves."""
    matrix = op.reads[0]
    factors = build.step("lu", [reads[0]], matrix)
    first = build.step("triangular_solve", [factors, reads[1]], op.gives[0])
    build.node("triangular_solve", [factors, first], gives)


#: By the operation's type; those of `names.py` need none.
RULES: dict[str, Rule] = {
    **{name: product for name in _TURNED},
    "Einsum": einsum,
    **{
        name: convolution
        for name in (
            *("Conv2D", "Conv3D", "DepthwiseConv2dNative", "_FusedConv2D"),
            *("Conv2DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput"),
            *("Conv2DBackpropFilter", "Conv3DBackpropFilterV2", "DepthwiseConv2dNativeBackpropFilter"),
        )
    },
    "Softmax": softmax,
    "LogSoftmax": softmax,
    "SoftmaxCrossEntropyWithLogits": cross_entropy,
    "SparseSoftmaxCrossEntropyWithLogits": cross_entropy,
    **{
        name: batch_norm
        for name in ("FusedBatchNormV2", "FusedBatchNormV3", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
    },
    **{
        name: window
        for name in ("MaxPool", "MaxPoolV2", "AvgPool", "MaxPool3D", "AvgPool3D", "MaxPoolGrad", "AvgPoolGrad")
    },
    "AddN": sum_of_all,
    **{name: assigned for name in ("AssignAddVariableOp", "AssignSubVariableOp")},
    "ResourceApplyGradientDescent": optimizer(1),
    "ResourceApplyKerasMomentum": optimizer(2),
    "ResourceApplyAdam": optimizer(3),
    "SquaredDifference": several("sub", "square"),
    "TanhGrad": several("mul", "mul"),
    "SigmoidGrad": several("mul", "mul"),
    "RsqrtGrad": several("mul", "mul"),
    "ReciprocalGrad": several("mul", "mul"),
    "SoftplusGrad": several("logistic", "mul"),
    "TopKV2": top,
    "OneHot": one_hot,
    **{
        name: transform
        for name in ("FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D", "RFFT", "RFFT2D", "IRFFT", "IRFFT2D")
    },
    "MatrixSolve": solve,
}
