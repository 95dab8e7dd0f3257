"""Kernels that programs write themselves: element-wise, reductions, fused functions, CUDA source."""

from __future__ import annotations

import functools
import math
import operator
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _native
from ...events.kernel import described
from ..core import calls, pools, shared, streams
from ..core.imagined import capability
from .c_code import Code
from .c_run import run as run_code

_HOW = (
    "Describe it: `breakeven.kernel({name!r}, flops=..., bytes=...)`, as a decorator of a function that does to NumPy "
    "arrays what the kernel does to its arguments"
)


class _Parameter:
    def __init__(self, text: str) -> None:
        words = text.split()
        self.raw = "raw" in words
        self.kind, self.name = [word for word in words if word not in ("raw", "const", "_non_atomic")][-2:]


def _dtype_of(kind: str) -> Any:
    try:
        return np.dtype({"float": "float32", "double": "float64", "int": "int32"}.get(kind, kind))
    except TypeError:
        return None


def _parameters(text: str) -> list[_Parameter]:
    return [_Parameter(part) for part in text.replace("*", " ").split(",") if part.strip()]


def _defined(options: tuple[str, ...]) -> str:
    """What the compiler is told by `-DNAME=value`, as lines of C."""
    found = re.findall(r"(?<!\S)(?:-D\s*|--define-macro=)(\w+)(?:=(\S+))?", " ".join(options))
    return "".join(f"#define {name} {value or 1}\n" for name, value in found)


@functools.lru_cache(maxsize=256)
def _code(kernel: str, text: str, preamble: str, types: tuple[tuple[str, Any], ...]) -> Code:
    """The code of a kernel, with the types that a call settles; that elements may go different ways in it is told."""
    code = Code(text, dict(types), preamble)
    if code.branches:
        told = (
            "has branches or loops, which NumPy takes for all elements alike: compiled C may be far faster on the CPU"
        )
        _native.unseen("kernel-by-numpy", f"kernel `{kernel}` {told}")
    return code


class _Kernel:
    """Parameters by name and type; the types that a call settles."""

    def __init__(self, name: str, into: str, out: str, preamble: str, options: tuple[str, ...]) -> None:
        if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", name):
            raise ValueError(f'Invalid kernel name: "{name}"')
        self.name = name
        self._preamble = _defined(options) + preamble
        self._in = _parameters(into)
        self._out = _parameters(out)
        self.in_params, self.out_params = tuple(self._in), tuple(self._out)
        self.params = self.in_params + self.out_params
        self.nin, self.nout, self.nargs = len(self._in), len(self._out), len(self._in) + len(self._out)

    def _types(self, values: list[Any], outs: list[Any]) -> dict[str, Any]:
        types: dict[str, Any] = {}
        for parameter, value in [*zip(self._in, values), *zip(self._out, outs)]:
            if not isinstance(value, np.ndarray):
                continue
            if len(parameter.kind) == 1:
                if types.setdefault(parameter.kind, value.dtype) != value.dtype:
                    told = f"{value.dtype} {types[parameter.kind]} {parameter.kind}"
                    raise TypeError(f"Type is mismatched. {parameter.name} {told}")
            elif (kind := _dtype_of(parameter.kind)) is not None and kind != value.dtype and parameter in self._in:
                raise TypeError(f"Type is mismatched. {parameter.name} {value.dtype} {kind}")
        for parameter, value in zip(self._in, values):
            if len(parameter.kind) == 1 and parameter.kind not in types:
                types[parameter.kind] = shared.quietly(np.asarray, value).dtype
        return types

    def _dtype(self, parameter: _Parameter, types: dict[str, Any]) -> Any:
        if len(parameter.kind) == 1:
            if parameter.kind not in types:
                raise KeyError(parameter.kind)
            return np.dtype(types[parameter.kind])
        return _dtype_of(parameter.kind) or np.dtype(parameter.kind)

    def _given(self, values: list[Any], types: dict[str, Any]) -> dict[str, Any]:
        """The inputs by name, each number as its declared type holds it."""

        def held(parameter: _Parameter, value: Any) -> Any:
            kind = types.get(parameter.kind) or _dtype_of(parameter.kind)
            if isinstance(value, np.ndarray) or kind is None:
                return value
            # a number of Python's again, whose type does not decide that of what is computed from it
            return np.asarray(value).astype(kind).item()

        return {parameter.name: held(parameter, value) for parameter, value in zip(self._in, values)}

    def _split(self, args: tuple[Any, ...], out: Any) -> tuple[list[Any], list[Any]]:
        given = [calls.plain(arg) for arg in args]
        if len(given) not in (self.nin, self.nargs):
            raise TypeError(
                f"Wrong number of arguments for {self.name!r}. It must be either {self.nin} or {self.nargs} (with "
                f"outputs), "
                f"but given {len(given)}."
            )
        for value in args:
            if type(value) in (list, tuple, str):
                raise TypeError(f"Unsupported type {type(value)}")
        outs = given[self.nin :]
        if out is not None:
            outs = [calls.plain(item) for item in (out if isinstance(out, (tuple, list)) else (out,))]
        return given[: self.nin], outs

    def _parsed(self, text: str, types: dict[str, Any]) -> Code:
        try:
            return _code(self.name, text, self._preamble, tuple(types.items()))
        except NotImplementedError as error:
            raise self._cannot(error) from None

    def _cannot(self, error: Exception) -> NotImplementedError:
        hint = _HOW.format(name=self.name)
        return NotImplementedError(f"breakeven's stand-in for cupy cannot run kernel {self.name!r}: {error}. {hint}.")


class ElementwiseKernel(_Kernel):
    """`cupy.ElementwiseKernel`; its body is imitated where it is simple C."""

    def __init__(
        self, in_params: str, out_params: str, operation: str, name: str = "kernel", reduce_dims: bool = True,
        preamble: str = "", no_return: bool = False, return_tuple: bool = False, *, loop_prep: str = "",
        after_loop: str = "", options: tuple[str, ...] = (), **others: Any,
    ) -> None:  # fmt: skip
        super().__init__(name, in_params, out_params, preamble, options)
        self.operation = operation
        #: What CuPy runs before its loop over elements, it runs here before each of them.
        self._code = f"{loop_prep};\n{operation}"
        self._after = after_loop
        self._tuple = return_tuple

    def __call__(
        self, *args: Any, size: int | None = None, stream: Any = None, block_size: int = 128, **kwargs: Any
    ) -> Any:
        if kwargs:
            raise TypeError(f"Wrong arguments {kwargs}")
        values, outs = self._split(args, None)
        types = self._types(values, outs)
        shaped = [np.shape(v) for p, v in [*zip(self._in, values), *zip(self._out, outs)] if not p.raw]
        if size is not None:
            if any(shaped):
                raise ValueError("Specified 'size' can be used only if all of the ndarray are 'raw'.")
            shaped.append((size,))
        elif not any(
            isinstance(v, np.ndarray) for p, v in [*zip(self._in, values), *zip(self._out, outs)] if not p.raw
        ):
            raise ValueError("Loop size is undecided.")
        try:
            shape = shared.quietly(np.broadcast_shapes, *shaped)
        except ValueError:
            shapes = " ".join(map(str, filter(None, shaped)))
            raise ValueError(f"operands could not be broadcast together with shapes {shapes}") from None
        count = math.prod(shape)
        code: Code | None = None
        if (told := described(self.name)) is None:
            if self._after:
                raise self._cannot(NotImplementedError("`after_loop` is not imitated"))
            code = self._parsed(self._code, types)

        def compute(*_: Any) -> Any:
            made = outs or [np.zeros(shape, self._dtype(p, types)) for p in self._out]
            if code is None:
                _affect(self.name, told, (*values, *made))
                return tuple(made)
            names = self._given(values, types)
            names.update({p.name: o for p, o in zip(self._out, made)})
            if "i" in code.words:
                names["i"] = np.arange(count).reshape(shape)
            names["_ind"] = np.broadcast_to(False, shape)
            names.setdefault("n", count)
            try:
                spent = run_code(code, names)
            except NotImplementedError as error:
                raise self._cannot(error) from None
            keywords["functions"] = counted(spent)
            for place, (parameter, out) in enumerate(zip(self._out, made)):
                found = names[parameter.name]
                if parameter.raw or found is out:
                    continue
                if not outs and _may_be(found, out, (*values, *made)):
                    made[place] = found
                else:
                    out[...] = found
            return tuple(made)

        keywords: dict[str, Any] = {"n": count}
        if told is not None:
            keywords.update(told.launch((count,), (1,), tuple(values)))
        with stream if stream is not None else streams.current():
            result = calls.run("cupy.ElementwiseKernel", compute, tuple(values), {}, keywords)
        devices = args[self.nin :] or calls.wrapped(result)
        return devices if len(devices) != 1 or self._tuple else devices[0]


class ReductionKernel(_Kernel):
    """`cupy.ReductionKernel`."""

    def __init__(
        self, in_params: str, out_params: str, map_expr: str, reduce_expr: str, post_map_expr: str, identity: Any,
        name: str = "reduce_kernel", reduce_type: Any = None, reduce_dims: bool = True, preamble: str = "",
        options: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        super().__init__(name, in_params, out_params, preamble, options)
        self._map, self._reduce, self._post = map_expr, reduce_expr, post_map_expr
        self._identity = identity
        #: What is folded has the type of the first result, unless another is named.
        self._type = reduce_type or self._out[0].kind

    def __call__(
        self, *args: Any, out: Any = None, axis: Any = None, keepdims: bool = False, stream: Any = None
    ) -> Any:
        values, outs = self._split(args, out)
        keywords = {"n": max((np.size(value) for value in values), default=1)}
        with stream if stream is not None else streams.current():
            compute = functools.partial(self._of_plain, values, outs, axis, keepdims, keywords)
            result = calls.run("cupy.ReductionKernel", compute, tuple(values), {}, keywords)
        if out is not None:
            return out
        devices = calls.wrapped(result)
        return devices if len(devices) != 1 else devices[0]

    def _of_plain(
        self, values: list[Any], outs: list[Any], axis: Any, keepdims: bool, told: dict[str, Any], *_: Any
    ) -> tuple[Any, ...]:
        """What it makes of plain arrays; `told` gets what each element costs."""
        types = self._types(values, outs)
        shape = np.broadcast_shapes(*[np.shape(v) for v in values])
        if (description := described(self.name)) is not None:
            left = np.broadcast_to(False, shape).any(axis=axis, keepdims=keepdims).shape
            made = outs or [np.zeros(left, self._dtype(p, types)) for p in self._out]
            told.update(description.launch((told["n"],), (1,), tuple(values)))
            _affect(self.name, description, (*values, *made))
            return tuple(made)
        mapping = self._parsed(f"{self._type} _mapped = {self._map};", types)
        folding = self._parsed(f"{self._type} _folded = {self._reduce};", types)
        post = self._parsed(self._post, types)
        try:
            names = self._given(values, types)
            names["_in_ind"] = np.broadcast_to(False, shape)
            if "i" in mapping.words | post.words:
                names.setdefault("i", np.arange(math.prod(shape)).reshape(shape))
            spent = run_code(mapping, names)
            told["functions"] = counted(spent + folding.costs)
            mapped = np.broadcast_to(names["_mapped"], shape)
            if mapped.size == 0:
                mapped = np.full([max(1, length) for length in shape], float(self._identity or 0), mapped.dtype)
            folded = _fold(mapped, axis, keepdims, folding)
            names["a"], names["_out_ind"] = folded, np.broadcast_to(False, folded.shape)
            run_code(post, names)
        except NotImplementedError as error:
            raise self._cannot(error) from None
        made = []
        for place, parameter in enumerate(self._out):
            value = np.asarray(names[parameter.name])
            if outs:
                if outs[place].shape != value.shape:
                    raise ValueError("Out shape is mismatched")
                outs[place][...] = value
                made.append(outs[place])
            else:
                made.append(value.astype(self._dtype(parameter, types)))
        return tuple(made)


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    given = range(ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    found = tuple(map(operator.index, given))
    for one in found:
        if not -ndim <= one < ndim:
            raise np.exceptions.AxisError(one, ndim)
    found = tuple(one % ndim for one in found)
    if len(set(found)) < len(found):
        raise ValueError("duplicate value in 'axis'")
    return found


def _may_be(found: Any, out: Any, given: tuple[Any, ...]) -> bool:
    """Whether what statements have made can be the result itself, in place of `out`."""
    return (
        isinstance(found, np.ndarray)
        and found.base is None
        and (found.shape, found.dtype, found.flags.c_contiguous) == (out.shape, out.dtype, True)
        and not any(found is other for other in given)
    )


#: Operators that NumPy folds whole arrays with.
_FOLDING = {
    "+": np.add, "*": np.multiply, "&&": np.logical_and, "||": np.logical_or, "&": np.bitwise_and, "|": np.bitwise_or,
    "^": np.bitwise_xor,
}  # fmt: skip


def _ufunc(folding: Code) -> Any:
    """NumPy's function of two numbers that a fold is made of; None where it is more than one."""
    match folding.body:
        case [("block", [("set", _, _, (kind, *parts), _)])]:
            pass
        case _:
            return None
    function: Any = None
    operands: Any = ()
    if kind == "binary":
        function, operands = _FOLDING.get(parts[0]), parts[1:]
    elif kind == "call" and parts[0] in (np.minimum, np.maximum):
        function, operands = parts
    a, b = ("name", "a"), ("name", "b")
    return function if list(operands) in ([a, b], [b, a]) else None


def _fold(mapped: Any, axis: Any, keepdims: bool, folding: Code) -> Any:
    """All elements along the axes made one, two halves at a time where NumPy has no function for it."""
    axes = _axes(axis, mapped.ndim)
    if (function := _ufunc(folding)) is not None:
        typed = {} if function in (np.logical_and, np.logical_or) else {"dtype": mapped.dtype}
        return np.asarray(function.reduce(mapped, axes, keepdims=keepdims, **typed)).astype(mapped.dtype, copy=False)
    rest = [d for i, d in enumerate(mapped.shape) if i not in axes]
    rows = np.moveaxis(mapped, axes, range(len(axes))).reshape(-1, *rest)
    if len(rows) == 0:
        raise NotImplementedError("a reduction of nothing")
    while len(rows) > 1:
        half = len(rows) // 2
        names = {"a": rows[:half], "b": rows[half : 2 * half]}
        run_code(folding, names)
        folded = np.asarray(names["_folded"])
        rows = np.concatenate([folded, rows[2 * half :]]) if len(rows) % 2 else folded
    kept = [1 if i in axes else d for i, d in enumerate(mapped.shape)] if keepdims else rest
    return rows[0].reshape(kept)


def counted(names: list[str]) -> str:
    """`two*3,exp*1`: what each element costs, as the recorder takes it."""
    return ",".join(f"{name}*{count}" for name, count in Counter(names).items())


def _affect(name: str, told: Any, args: tuple[Any, ...]) -> None:
    """What its description says that a kernel does to its arguments; that it says nothing is told."""
    if told.effect is not None:
        told.effect(*args)
    else:
        _native.unseen("kernel-effect", f"what kernel `{name}` does to its arrays was not imitated: values differ")


#: What CUDA launches at most along each axis.
_LONGEST_BLOCK, _LONGEST_GRID = (1024, 1024, 64), (2**31 - 1, 65535, 65535)


class RawKernel:
    """`cupy.RawKernel`: recorded where `breakeven.kernel` describes it, refused where nothing does."""

    #: What a kernel gets of shared memory unless it asks for more, bytes.
    max_dynamic_shared_size_bytes = 49152
    preferred_shared_memory_carveout = -1
    max_threads_per_block = 1024
    cache_mode_ca = 0

    def __init__(
        self, code: str, name: str, options: Any = (), backend: str = "nvrtc", *, translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False, jitify: bool = False,
    ) -> None:  # fmt: skip
        self.code, self.name, self.options, self.backend = code, name, options, backend
        self.enable_cooperative_groups = enable_cooperative_groups
        self.file_path: str | None = None
        self.kernel = self

    def _compiled(self) -> int:
        raise NotImplementedError(
            f"breakeven's stand-in for cupy does not compile kernel {self.name!r}: its registers and memory are not "
            f"known"
        )

    attributes = num_regs = shared_size_bytes = const_size_bytes = local_size_bytes = property(_compiled)

    @property
    def binary_version(self) -> int:
        major, minor = capability()
        return 10 * major + minor

    ptx_version = binary_version

    def compile(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __call__(self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0, stream: Any = None) -> None:
        for what, value in (("grid", grid), ("block", block)):
            if not isinstance(value, tuple):
                raise TypeError(f"Argument {what!r} has incorrect type (expected tuple, got {type(value).__name__})")
        for value in args:
            if isinstance(value, np.ndarray) and value.size != 1:
                raise TypeError(
                    f"You are trying to pass a numpy.ndarray of shape {value.shape} as a kernel parameter. Only "
                    "numpy.ndarrays of size one can be passed by value. If you meant to pass a pointer to __global__ "
                    "memory, "
                    "you need to pass a cupy.ndarray instead."
                )
            if isinstance(value, str):
                raise TypeError(f"Unsupported type {str}")
        too_many = math.prod(map(int, block)) > self.max_threads_per_block or any(
            int(length) > most for most, length in (*zip(_LONGEST_BLOCK, block), *zip(_LONGEST_GRID, grid))
        )
        if too_many or shared_mem > self.max_dynamic_shared_size_bytes:
            raise RuntimeError("CUDA_ERROR_INVALID_VALUE: invalid argument")
        if math.prod(map(int, grid)) == 0:
            return
        told = described(self.name)
        if told is None:
            raise NotImplementedError(
                f"breakeven's stand-in for cupy cannot run CUDA kernel {self.name!r}: {_HOW.format(name=self.name)}."
            )
        plain = tuple(arg[()] if isinstance(arg, np.ndarray) else calls.plain(arg) for arg in args)

        def compute(*_: Any) -> Any:
            _affect(self.name, told, plain)
            return ()

        keywords = told.launch(tuple(grid), tuple(block), plain)
        with stream if stream is not None else streams.current():
            calls.run("cupy.RawKernel", compute, plain, {}, keywords)


class RawModule:
    """`cupy.RawModule`."""

    def __init__(
        self, *, code: str | None = None, path: str | None = None, options: Any = (), backend: str = "nvrtc",
        translate_cucomplex: bool = False, enable_cooperative_groups: bool = False, name_expressions: Any = None,
        jitify: bool = False,
    ) -> None:  # fmt: skip
        if (code is None) == (path is None):
            raise TypeError("Exactly one of `code` and `path` keyword arguments must be given.")
        self.code, self.options, self.backend = code or "", options, backend
        self.enable_cooperative_groups, self.name_expressions = enable_cooperative_groups, name_expressions
        self.file_path = path

    def compile(self, *args: Any, **kwargs: Any) -> None:
        pass

    def get_function(self, name: str) -> RawKernel:
        return RawKernel(
            self.code, re.sub(r"<.*>$", "", name), self.options, self.backend,
            enable_cooperative_groups=self.enable_cooperative_groups,
        )  # fmt: skip

    def get_global(self, name: str) -> Any:
        raise NotImplementedError(f"breakeven's stand-in for cupy has no memory of a module: {name!r}")


#: What takes one operation of each element.
_FOLDS = frozenset("sum prod max min amax amin any all mean".split())


class Fusion:
    """`cupy.fuse`: what runs inside is one kernel."""

    _calls_programs = True

    def __init__(self, function: Callable[..., Any], name: str | None = None) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self.name = name or getattr(function, "__name__", "fused")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if shared.state.fused is not None or not any(calls.is_device(arg) for arg in (*args, *kwargs.values())):
            return self._function(*args, **kwargs)
        tag = streams.tag()
        token = _native.enter("cupy.fuse", True)
        shared.state.fused = []
        try:
            with pools.using(pools.registers):
                result = self._function(*args, **kwargs)
        except BaseException:
            _native.leave(token, (), None)
            raise
        finally:
            names, shared.state.fused = shared.state.fused or [], None
        inputs = calls.arrays(calls.plain(args))
        outputs = result if isinstance(result, (tuple, list)) else (result,)
        functions = counted(
            [
                "two" if name.rpartition(".")[2] in _FOLDS else name
                for name in names
                if not name.startswith("numpy.ndarray.__")
            ]
        )
        plain = tuple(item._a for item in outputs if calls.is_device(item))
        _native.leave(token, inputs, plain, {"functions": functions}, tag)
        for item in plain:
            pools.place(item)
        return result

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def clear_cache(self) -> None:
        pass


def fuse(*args: Any, **kwargs: Any) -> Any:
    """`@cupy.fuse`, `@cupy.fuse(kernel_name=...)`."""
    name = kwargs.get("kernel_name")
    if args and callable(args[0]):
        return Fusion(args[0], name)
    return lambda function: Fusion(function, name)


for _class in (ElementwiseKernel, ReductionKernel, RawKernel, RawModule):
    _class.__module__ = "cupy"
