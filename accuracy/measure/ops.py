"""How each op is written in NumPy and CuPy (one API) and in PyTorch. What a framework does not have is `None`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Run = Callable[[], Any]

NUMPY_DTYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "i64": "int64", "i32": "int32",
                "c64": "complex64", "c128": "complex128"}


def on_arrays(xp: Any, op: str, dtype: str, d: dict[str, int]) -> Run | None:
    """A call of NumPy or CuPy on random inputs that are made once."""
    if dtype not in NUMPY_DTYPES:
        return None
    kind = xp.dtype(NUMPY_DTYPES[dtype])

    def random(*shape: int) -> Any:
        if kind.kind == "i":
            return xp.random.randint(0, 1 << 30, shape).astype(kind)
        values = xp.random.random(shape) + 0.5
        return (values + 1j * xp.random.random(shape)).astype(kind) if kind.kind == "c" else values.astype(kind)

    def spd(n: int) -> Any:
        a = random(n, n)
        return a @ a.T + n * xp.eye(n, dtype=kind)

    b, h, n = d.get("b", 1), d.get("h", 1), d.get("n", 1)
    if op in ("matmul", "bmm"):
        shape = (b,) if op == "bmm" else ()
        x, y = random(*shape, d["m"], d["k"]), random(*shape, d["k"], n)
        return lambda: x @ y
    if op in ("cholesky", "solve", "inv", "eigh", "lu", "qr", "svd"):
        if op == "lu":
            return None
        a, right = spd(n), random(n, 1)
        linalg = xp.linalg
        return {
            "cholesky": lambda: linalg.cholesky(a), "solve": lambda: linalg.solve(a, right),
            "inv": lambda: linalg.inv(a), "eigh": lambda: linalg.eigh(a), "qr": lambda: linalg.qr(a),
            "svd": lambda: linalg.svd(a, full_matrices=False),
        }[op]
    if op in ("uniform", "normal"):
        generator = xp.random.default_rng(1)
        draw = generator.random if op == "uniform" else generator.standard_normal
        return lambda: draw(b * h, dtype=kind)
    if op in ("conv", "conv_data", "conv_weight", "batchnorm", "attention", "gelu", "linear", "h2d", "d2h",
        "h2d_pinned", "d2h_pinned"):
        return None
    if op in ("gather", "scatter"):
        source, places = random(h), xp.random.randint(0, h, b)
        if op == "gather":
            return lambda: source[places]
        values = random(b)
        return lambda: source.__setitem__(places, values)
    x = random(b, h) if b > 1 else random(h)
    y = random(b, h) if b > 1 else random(h)
    last = x.ndim - 1

    def softmax() -> Any:
        e = xp.exp(x - x.max(axis=last, keepdims=True))
        return e / e.sum(axis=last, keepdims=True)

    def layer_norm() -> Any:
        centred = x - x.mean(axis=last, keepdims=True)
        return centred / xp.sqrt((centred * centred).mean(axis=last, keepdims=True) + 1e-5)

    table: dict[str, Run] = {
        "add": lambda: x + y, "mul": lambda: x * y, "div": lambda: x / y, "pow": lambda: x**y,
        "addu": lambda: x + 3, "mulu": lambda: x * 3, "divu": lambda: x / 3, "powu": lambda: x**3,
        "exp": lambda: xp.exp(x), "sqrt": lambda: xp.sqrt(x), "sin": lambda: xp.sin(x), "tanh": lambda: xp.tanh(x),
        "relu": lambda: xp.maximum(x, 1), "where": lambda: xp.where(x > y, x, y), "copy": lambda: x.copy(),
        "transpose": lambda: xp.ascontiguousarray(x.T), "softmax": softmax, "ln": layer_norm,
        "sum": lambda: x.sum(axis=last), "max": lambda: x.max(axis=last), "argmax": lambda: x.argmax(axis=last),
        "var": lambda: x.var(axis=last), "cumsum": lambda: xp.cumsum(x), "sort": lambda: xp.sort(x),
        "argsort": lambda: xp.argsort(x), "unique": lambda: xp.unique(x), "fft": lambda: xp.fft.fft(x),
        "rfft": lambda: xp.fft.rfft(x),
    }
    return table.get(op)


def on_tensors(torch: Any, device: str, op: str, dtype: str, d: dict[str, int]) -> Run | None:
    """A call of PyTorch on random inputs that are made once."""
    kind = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
        "tf32": torch.float32,
            "f8": torch.float8_e4m3fn, "i8": torch.int8,
            "i64": torch.int64, "i32": torch.int32, "c64": torch.complex64, "c128": torch.complex128}.get(dtype)
    if kind is None:
        return None

    def random(*shape: int) -> Any:
        if dtype.startswith("i"):
            return torch.randint(0, 1 << 30, shape, device=device, dtype=kind)
        return torch.rand(shape, device=device,
            dtype=torch.complex128 if dtype.startswith("c") else torch.float32).to(kind)

    b, h, n = d.get("b", 1), d.get("h", 1), d.get("n", 1)
    functional = torch.nn.functional
    if dtype in ("f8", "i8"):
        return _eight_bits(torch, device, dtype, d)
    if op in ("matmul", "bmm", "linear"):
        shape = (b,) if op == "bmm" else ()
        x, y = random(*shape, d["m"], d["k"]), random(*shape, d["k"], n)
        if op == "linear":
            weight, bias = random(n, d["k"]), random(n)
            return lambda: functional.linear(x, weight, bias)
        return lambda: x @ y
    if op == "conv":
        x, weight = random(b, d["cin"], d["hw"], d["hw"]), random(d["cout"], d["cin"], d["ksize"], d["ksize"])
        return lambda: functional.conv2d(x, weight, stride=d["stride"], padding=d["pad"])
    if op in ("conv_data", "conv_weight"):
        x, weight = random(b, d["cin"], d["hw"], d["hw"]), random(d["cout"], d["cin"], d["ksize"], d["ksize"])
        stride, pad = [d["stride"]] * 2, [d["pad"]] * 2
        y = torch.rand_like(functional.conv2d(x, weight, stride=stride, padding=pad))
        wanted = [op == "conv_data", op == "conv_weight", False]
        backward = torch.ops.aten.convolution_backward
        return lambda: backward(y, x, weight, None, stride, pad, [1, 1], False, [0, 0], 1, wanted)
    if op == "batchnorm":
        side = math.isqrt(h // 64)
        x, scale = random(64, b, side, side), random(b)
        return lambda: functional.batch_norm(x, None, None, scale, scale, training=True)
    if op == "attention":
        q, k, v = random(b, h, d["m"], d["k"]), random(b, h, n, d["k"]), random(b, h, n, d["k"])
        return lambda: functional.scaled_dot_product_attention(q, k, v)
    if op in ("cholesky", "solve", "inv", "eigh", "lu", "qr", "svd"):
        if dtype not in ("f32", "f64"):
            return None
        a = random(n, n)
        a, right, linalg = a @ a.T + n * torch.eye(n, device=device, dtype=kind), random(n, 1), torch.linalg
        return {
            "cholesky": lambda: linalg.cholesky(a), "solve": lambda: linalg.solve(a, right),
            "inv": lambda: linalg.inv(a), "eigh": lambda: linalg.eigh(a), "lu": lambda: linalg.lu_factor(a),
            "qr": lambda: linalg.qr(a), "svd": lambda: linalg.svd(a, full_matrices=False),
        }[op]
    if op in ("uniform", "normal"):
        make = torch.rand if op == "uniform" else torch.randn
        return lambda: make(b * h, device=device, dtype=kind)
    if op in ("gather", "scatter"):
        source, places = random(h), torch.randint(0, h, (b,), device=device)
        if op == "gather":
            return lambda: source[places]
        values = random(b)
        return lambda: source.__setitem__(places, values)
    if op in ("h2d", "d2h", "h2d_pinned", "d2h_pinned"):
        if device == "cpu":
            return None
        there, pinned = random(b * h), op.endswith("_pinned")
        here = torch.empty(b * h, dtype=kind, pin_memory=pinned)
        return (lambda: there.copy_(here, non_blocking=pinned)) if op[0] == "h" else (
            lambda: here.copy_(there, non_blocking=pinned))
    x, y = (random(b, h), random(b, h)) if b > 1 else (random(h), random(h))
    table: dict[str, Run] = {
        "add": lambda: x + y, "mul": lambda: x * y, "div": lambda: x / y, "pow": lambda: x**y,
        "addu": lambda: x + 3, "mulu": lambda: x * 3, "divu": lambda: x / 3, "powu": lambda: x**3,
        "exp": lambda: torch.exp(x), "sqrt": lambda: torch.sqrt(x), "sin": lambda: torch.sin(x),
        "tanh": lambda: torch.tanh(x), "relu": lambda: torch.relu(x), "gelu": lambda: functional.gelu(x),
        "where": lambda: torch.where(x > y, x, y), "copy": lambda: x.clone(), "transpose": lambda: x.T.contiguous(),
        "softmax": lambda: torch.softmax(x, -1), "ln": lambda: functional.layer_norm(x, x.shape[-1:]),
        "sum": lambda: x.sum(-1), "max": lambda: x.amax(-1), "argmax": lambda: x.argmax(-1), "var": lambda: x.var(-1),
        "cumsum": lambda: torch.cumsum(x, -1), "sort": lambda: torch.sort(x), "argsort": lambda: torch.argsort(x),
        "unique": lambda: torch.unique(x), "fft": lambda: torch.fft.fft(x), "rfft": lambda: torch.fft.rfft(x),
    }
    return table.get(op)


def _eight_bits(torch: Any, device: str, dtype: str, d: dict[str, int]) -> Run | None:
    """A product of 8-bit numbers, the second operand in columns, as the tensor units take them."""
    if device == "cpu":
        return None
    x, y = torch.rand(d["m"], d["k"], device=device), torch.rand(d["n"], d["k"], device=device)
    if dtype == "i8":
        x, y = (x * 127).to(torch.int8), (y * 127).to(torch.int8).t()
        return lambda: torch._int_mm(x, y)
    x, y, one = x.to(torch.float8_e4m3fn), y.to(torch.float8_e4m3fn).t(), torch.ones((), device=device)
    return lambda: torch._scaled_mm(x, y, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
