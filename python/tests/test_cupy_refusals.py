"""What CuPy refuses, the stand-in refuses (each was seen of CuPy 14.2 on an H200, or read in its source); what it
has not, it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import running
from cupy_running import device, record

HEAD = """import numpy as np
import cupy as cp
a = cp.arange(4.0)
def tried(f):
    try:
        print(" ".join(str(f()).split()))
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
"""
IMPLICIT = (
    "TypeError: Implicit conversion to a NumPy array is not allowed. "
    "Please use `.get()` to construct a NumPy array explicitly."
)
HOST = "TypeError: Unsupported type <class 'numpy.ndarray'>"
CASES = {
    "np.asarray(a)": IMPLICIT,
    "np.array([a, a])": IMPLICIT,
    "a + np.ones(4)": HOST,
    "np.ones(4) + a": HOST,
    "np.array(2.0) * a": HOST,
    "np.float64(2) > a, a == np.array(2.0)": "(array([ True, True, False, False]), array([False, False, True, False]))",
    "cp.add(a, np.ones(4))": HOST,
    "cp.sum(np.ones(4))": "4.0",  # asks its argument to add itself up
    "(h := np.array([3, 1, 2]), cp.sort(h), cp.sort(h, axis=None))":
        "(array([3, 1, 2]), array([1, 2, 3]), array([1, 2, 3]))",
    "cp.exp(np.ones(4))": HOST,
    "a.__setitem__(slice(None), np.ones(4))": "ValueError: non-scalar numpy.ndarray cannot be used for fill",
    "a.__setitem__(0, [1, 2])": "ValueError: non-scalar numpy.ndarray cannot be used for fill",
    **dict.fromkeys(
        ("a.reshape(cp.array(2), 2)", "cp.zeros((cp.array(2), 2))", "cp.empty(cp.array(2))", "a.sum(axis=cp.array(0))",
         "cp.broadcast_to(a, (cp.array(2), 4))", "cp.random.rand(cp.array(3))", "cp.sum(a, cp.array(0))",
         "cp.random.normal(size=cp.array(2))", "a.argmax(cp.array(0))", "cp.reshape(a, (cp.array(2), 2))"),
        "TypeError: 'ndarray' object cannot be interpreted as an integer",
    ),
    "cp.poly1d(a).integ()": "NotImplementedError: ",
    "cp.poly1d(a).deriv()": "NotImplementedError: ",
    "[1, 2, 3, 4] + a": "TypeError: Unsupported type <class 'list'>",
    "cp.sum([1, 2])": "AttributeError: 'list' object has no attribute 'sum'",
    "cp.sum(a, where=a > 1)": "TypeError: sum() got an unexpected keyword argument 'where'",
    "a.max(initial=0)": "TypeError: max() got an unexpected keyword argument 'initial'",
    "cp.sin(a, where=a > 1)": "TypeError: Wrong arguments {'where': array([False, False,  True,  True])}",
    "cp.maximum.reduce(a)": "NotImplementedError: `cupy_maximum.reduce` is not supported yet",
    "cp.concatenate([[1], [2]])": "TypeError: Unsupported type <class 'list'>",
    "cp.argsort(a, kind='mergesort')": "ValueError: kind can only be None or 'stable'",
    "cp.random.default_rng(0).normal()": "AttributeError: 'Generator' object has no attribute 'normal'",
    "cp.ones(2, object)": "ValueError: Unsupported dtype object",
    "a + cp.ones((2, 3))": "ValueError: operands could not be broadcast together with shapes (4,) (2, 3)",
    "a.reshape(2, 2) @ cp.ones((3, 2))": "ValueError: Axis dimension mismatch",
    "a[9]": "IndexError: Index 9 is out of bounds for axis 0 with size 4",
    "a[cp.array([1, 5, -7])]": "[1. 1. 1.]",  # kernels count on from the begin
    "a & 1": "TypeError: Wrong type ((dtype('float64'), dtype('int64'))) of arguments for cupy_bitwise_and",
    "a.astype(int).__iadd__(1.5)":
        "TypeError: Cannot cast output operand from dtype('float64') to dtype('int64') according to the rule "
        "'same_kind'",
    "a.item(2)": "TypeError: ndarray.item() takes 1 positional argument but 2 were given",
    "float(a[:1])": "TypeError: only 0-dimensional arrays can be converted to Python scalars",
    "bool(cp.empty(0))": "False",
    "cp.linalg.inv(cp.ones((2, 2)))": "[[nan nan] [nan nan]]",
    "cp.add([1], [2])": "TypeError: Unsupported type <class 'list'>",
    "cp.array([object()])": "ValueError: Unsupported dtype object",
    "cp.array(['x'])": "ValueError: Unsupported dtype <U1",
    "a.astype(object)": "ValueError: Unsupported dtype object",
    "cp.no_such_function": "AttributeError: module 'cupy' has no attribute 'no_such_function'",
    "cp.linalg.schur": "AttributeError: module 'cupy.linalg' has no attribute 'schur'",
    "cp.cuda.cublas": "AttributeError: breakeven's stand-in for cupy has no cuda.cublas",
    "cp.cuda.memory.ManagedMemory": "AttributeError: breakeven's stand-in for cupy has no cuda.memory.ManagedMemory",
    "cp.cuda.memory.Nothing": "AttributeError: module 'cupy.cuda.memory' has no attribute 'Nothing'",
    "cp._core.create_ufunc": "AttributeError: breakeven's stand-in for cupy has no _core.create_ufunc",
    "__import__('cupy.cuda.curand')": "ModuleNotFoundError: breakeven's stand-in for cupy has no cupy.cuda.curand",
    "cp.DataSource": "AttributeError: breakeven's stand-in for cupy has no DataSource",
    "a.no_such_method": "AttributeError: 'ndarray' object has no attribute 'no_such_method'",
    "cp.cuda.Device(1).use()": "CUDARuntimeError: cudaErrorInvalidDevice: invalid device ordinal",
    "cp.cuda.runtime.setDevice(3)": "CUDARuntimeError: cudaErrorInvalidDevice: invalid device ordinal",
    "__import__('cupyx.distributed')": "ModuleNotFoundError: breakeven's stand-in for cupy has no cupyx.distributed",
    "cp.ElementwiseKernel('T x, T y', 'T z', 'z = x', 'k')(a, a.astype(int))":
        "TypeError: Type is mismatched. y int64 float64 T",
    "cp.ElementwiseKernel('T x', 'T z', 'z = x', 'k')(3.0)": "ValueError: Loop size is undecided.",
    "__import__('cupyx.nothing')": "ModuleNotFoundError: No module named 'cupyx.nothing'",
    "a.get(out=np.ones(3))": "ValueError: Shape mismatch. Expected shape: (4,), actual shape: (3,)",
    "a.set(np.ones(4, np.float32))": "TypeError: float32 array cannot be set to float64 array",
    "3 in a, 9 in a": "(True, False)",
    "3 in a.reshape(2, 2)":
        "ValueError: The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()",
    "cp.asnumpy(np.arange(2), out=np.ones(2))": "[0. 1.]",
    "len(cp.array(1))": "TypeError: len() of unsized object",
    "iter(cp.array(1))": "TypeError: iteration over a 0-d array",
    "bool(a)": (
        "ValueError: The truth value of an array with more than one element is ambiguous. Use a.any() or "
        "a.all()"
    ),
    "isinstance(a, cp.ndarray), isinstance(np.ones(1), cp.ndarray)": "(True, False)",
    "cp.get_array_module(a).__name__, cp.get_array_module(np.ones(1)).__name__": "('cupy', 'numpy')",
    "cp.__version__": "14.2.0",
    **{f"cp.linalg.{call}": "LinAlgError: cupy.linalg only supports cupy.ndarray" for call in (
        "inv(np.eye(2))", "inv([[1.0]])", "svd(np.eye(2))", "solve(cp.eye(2), np.ones(2))",
        "matrix_power(np.eye(2), 2)",
        "matrix_rank(np.eye(2))",
    )},
    "cp.linalg.det([[1.0]])": "AttributeError: 'list' object has no attribute 'ndim'",
    "cp.linalg.cond(np.eye(2))": "1.0",  # brought to the device
    "cp.full((2, 4), np.ones(4))": "ValueError: non-scalar numpy.ndarray cannot be used for copyto",
    "cp.copyto(a.copy(), np.ones(4))": "ValueError: non-scalar numpy.ndarray cannot be used for copyto",
    "cp.full(np.array([1, 2]), np.array(3.0)), cp.zeros(np.array([2]))": "(array([[3., 3.]]), array([0., 0.]))",
    "cp.meshgrid(np.ones(2), np.ones(2))": "ValueError: input has to be cupy.ndarray",
    "cp.polyval([1.0, 2.0], a)": "TypeError: p must be 1d ndarray or poly1d object",
    "cp.trapezoid(np.ones(3))": "TypeError: `y` should be of type cupy.ndarray",
    "a.__setitem__(0, 'x')": "TypeError: Unsupported type <class 'str'>",
    "a.__setitem__(0, None)": "TypeError: Unsupported type <class 'NoneType'>",
    "a.__setitem__(0, {1: 2})": "TypeError: Unsupported type <class 'dict'>",
    "a.fill(np.ones(4))": "ValueError: non-scalar numpy.ndarray cannot be used for fill",
    "cp.ones((3, 2)).T.sort()": "NotImplementedError: Sorting non-contiguous array is not supported.",
    "cp.sort(cp.ones((2, 1)).T)": "[[1. 1.]]",  # sorts a copy
    "cp.lexsort(cp.ones((2, 2, 2)))":
        "NotImplementedError: Keys with the rank of three or more is not supported in lexsort",
    "cp.zeros_like(a, subok=False)": "TypeError: subok is not supported yet",
    "cp.zeros(2, '>f8')": "ValueError: Unsupported dtype >f8 with big-endian byte-order",
    "cp.select([a > 1], [a], cp.array(1.0))": "TypeError: default only accepts scalar values",
    "setattr(cp.ones((2, 3)).T, 'shape', 6)": "AttributeError: Incompatible shape for in-place modification. "
        "Use `.reshape()` to make a copy with the desired shape.",
    "setattr(a, 'imag', 1)": "TypeError: cupy.ndarray does not have imaginary part to set",
    "a[::2].set(np.ones(2))": "RuntimeError: Cannot set to non-contiguous array",
    "a.reshape(2, 2).get(out=np.ones((4, 4))[::2, ::2])":
        "RuntimeError: `out` cannot be specified when copying to non-contiguous ndarray",
    "cp.random.seed(1.5)": "TypeError: Seed must be an integer.",
    "cp.random.seed(-1)": "ValueError: Seed must be an integer between 0 and 2**64 - 1",
    "cp.random.seed(np.arange(3))": "None",
    "cp.linspace(0, 1, 3, retstep=True), cp.divmod(a, 2, None, None)[1]":
        "((array([0. , 0.5, 1. ]), 0.5), array([0., 1., 0., 1.]))",
    "(q := cp.empty(4), cp.divmod(a, 2, q)[0] is q, cp.divmod(a, 2, out=(None, q))[0])[1:]":
        "(True, array([0., 0., 1., 1.]))",
    "cp.argmax(np.ones(2))": "TypeError: argmax() got an unexpected keyword argument 'dtype'",
    "(b := a.copy(), b.fill(cp.array(7.0)), b.fill(np.float32(8)), b)[-1]": "[8. 8. 8. 8.]",
}  # fmt: skip


def test_each_refusal(tmp_path: Path) -> None:
    source = HEAD + "".join(f"tried(lambda: ({case}))\n" for case in CASES)
    out, _ = record(source, tmp_path)
    assert dict(zip(CASES, out.splitlines())) == CASES


def test_values_are_not_read_where_that_is_not_allowed(tmp_path: Path) -> None:
    source = HEAD + """import cupyx, warnings
warnings.simplefilter("ignore")
with cupyx.allow_synchronize(False):
    tried(lambda: a.get())
    tried(lambda: float(a[0]))
    with cupyx.allow_synchronize(True):
        tried(lambda: int(a[1]))
    tried(lambda: cp.nonzero(a))
    tried(lambda: type(a + 1).__module__)
tried(lambda: a.sum().item())
"""
    error = "DeviceSynchronized: Device synchronization was detected while disallowed."
    assert record(source, tmp_path)[0].splitlines() == [error, error, "1", error, "cupy", "6.0"]


def test_nothing_is_told_of_divisions_by_zero(tmp_path: Path) -> None:
    source = """import warnings
import numpy as np, cupy as cp
warnings.simplefilter("error")
np.seterr(all="raise")
a = cp.array([0.0, 1.0])
print(1 / a, cp.log(a), a.astype(int) // 0, (a / 0).astype(int).shape, cp.fuse(lambda x: x / x)(a))
try:
    np.log(np.zeros(1))
except FloatingPointError as error:
    print(error)
"""
    out, _ = record(source, tmp_path)
    assert out == "[inf  1.] [-inf   0.] [0 0] (2,) [nan  1.]\ndivide by zero encountered in log\n"


def test_pickles_are_cupys(tmp_path: Path) -> None:
    source = """import copy, io, pickle
import cupy as cp
a = cp.arange(3)
print(pickle.loads(pickle.dumps(a)), copy.deepcopy(a), pickle.loads(pickle.dumps(cp.add)) is cp.add)
print(b"cupy._core.core" in a.dumps(), b"breakeven" in a.dumps(), type(pickle.loads(a.dumps())))
file = io.BytesIO()
a.dump(file)
print(pickle.loads(file.getvalue()), cp._core.core.ndarray is cp.ndarray)
functions = [cp.sum, cp.array, cp.linalg.norm, cp.random.rand, cp.fuse, cp.ndarray, cp.cuda.Device]
print([pickle.loads(pickle.dumps(function)) is function for function in functions] == [True] * 7)
print(pickle.loads(pickle.dumps(cp.cuda.runtime.CUDARuntimeError(101))))
"""
    assert record(source, tmp_path)[0] == (
        "[0 1 2] [0 1 2] True\nTrue False <class 'cupy.ndarray'>\n[0 1 2] True\nTrue\n"
        "cudaErrorInvalidDevice: invalid device ordinal\n"
    )


def test_names_that_are_not_there_say_whose_they_are(tmp_path: Path) -> None:
    source = """import cupy
for line in (
    "from cupy.cuda import cufft", "from cupy import DataSource", "import cupyx.distributed", "from cupy import no"
):
    try:
        exec(line)
    except ImportError as error:
        print(error)
from cupy.exceptions import AxisError
from cupy.typing import ArrayLike, NDArray
from cupy_backends.cuda.api.runtime import CUDARuntimeError
print(AxisError.__module__, NDArray[cupy.float32], cupy.ndarray[int, float], end=" ")
print(CUDARuntimeError is cupy.cuda.runtime.CUDARuntimeError)
"""
    assert record(source, tmp_path)[0] == (
        "breakeven's stand-in for cupy has no cupy.cuda.cufft\nbreakeven's stand-in for cupy has no cupy.DataSource\n"
        "breakeven's stand-in for cupy has no cupyx.distributed\n"
        "cannot import name 'no' from 'cupy' (unknown location)\n"
        "numpy.exceptions cupy.ndarray[typing.Any, numpy.dtype[numpy.float32]] cupy.ndarray[int, float] True\n"
    )


def test_classes_made_of_arrays(tmp_path: Path) -> None:
    source = """import cupy as cp
class Measured(cp.ndarray):
    def __new__(cls, *args, unit=None, **words):
        made = super().__new__(cls, *args, **words)
        made.unit = unit
        return made
    def __array_finalize__(self, other):
        self.unit = getattr(other, "unit", "none")
    @property
    def half(self):
        return self / 2
a = Measured((3,), dtype=cp.float32, unit="m")
a[...] = 1
b = cp.arange(3.0)
seen = b.view(Measured)
seen[0] = 7
print(a.unit, a.dtype, isinstance(a, cp.ndarray), a.sum(), a.half)
print(type(seen).__name__, seen.unit, b, b.view("i4").shape)
"""
    out, _ = record(source, tmp_path)
    assert out == "m float32 True 3.0 [0.5 0.5 0.5]\nMeasured none [7. 1. 2.] (6,)\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_views_keep_the_class_of_an_array(tmp_path: Path) -> None:
    source = """import cupy as cp
class Named(cp.ndarray):
    def __array_finalize__(self, obj):
        self.name = getattr(obj, "name", None)
a = cp.arange(6.0).reshape(2, 3).view(Named)
a.name = "a"
print([(type(b).__name__, b.name) for b in (a[0], a.T, a.reshape(3, 2), a.ravel(), a[:1].squeeze(), a.view("i8"))])
print([type(b).__name__ for b in (a + 1, a.sum(), a[a > 1])])
a[0][1] = 9
print(a.sum())
"""
    out, _ = record(source, tmp_path)
    assert out == f"{[('Named', 'a')] * 6}\n{['ndarray'] * 3}\n23.0\n"


def test_cuda_does_not_live_on_in_a_forked_process(tmp_path: Path) -> None:
    source = """import os
import cupy as cp
def child():
    pid = os.fork()
    if pid == 0:
        try:
            print(cp.arange(4).sum(), flush=True)
        except cp.cuda.runtime.CUDARuntimeError as error:
            print(error, flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
child()
a = cp.ones(3)
child()
print(a.sum())
"""
    script = tmp_path / "script.py"
    script.write_text(source)
    outcome = running.traced(tmp_path / "run", [str(script)], "native", tmp_path / "record")
    assert outcome.out == b"6\ncudaErrorInitializationError: initialization error\n3.0\n"


def test_a_script_that_patches_cupy(tmp_path: Path) -> None:
    source = """import cupy as cp
old = cp.dot
cp.dot = lambda a, b: old(a, b) * 2
print(cp.dot(cp.ones(3), cp.ones(3)))
"""
    out, workload = record(source, tmp_path)
    assert out == "6.0\n" and device(workload)["cupy.dot"] == 1


def test_without_a_recorder_there_is_no_stand_in(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import cupy\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    if done.returncode == 0:
        pytest.skip("there is a CuPy here")
    assert "No module named 'cupy'" in done.stderr
    out, workload = record("try:\n    import cupy\nexcept ImportError:\n    print('none')\n", tmp_path, "ast")
    assert out == ""


def test_a_library_that_tries_goes_on_without(tmp_path: Path) -> None:
    source = """import sys
from pathlib import Path
packages = Path("site-packages")
packages.mkdir()
(packages / "curious.py").write_text("try:\\n    import cupy\\nexcept ImportError:\\n    cupy = None\\n")
sys.path.insert(0, str(packages.absolute()))
import curious
print(curious.cupy)
import cupy
print(cupy.__version__)
"""
    out, _ = record(source, tmp_path)
    assert out == "None\n14.2.0\n"


def test_the_gpu_that_was_named(tmp_path: Path) -> None:
    source = """import cupy as cp
properties = cp.cuda.runtime.getDeviceProperties(0)
print(properties["name"].decode(), properties["multiProcessorCount"], cp.cuda.Device(0).compute_capability)
try:
    cp.empty((1 << 20, 1 << 10))
except cp.cuda.memory.OutOfMemoryError as error:
    print(error, cp.cuda.Device().mem_info)
"""
    out, workload = record(source, tmp_path)
    assert out == "breakeven stand-in 108 80\n"
    assert {unseen["reason"] for unseen in workload["unseen"]} == {"stand-in-device"}
    figures = '{"name": "NVIDIA L4", "memory": 1048576, "usable": 900000, "capability": "8.9", "units": 58, "cache": 0}'
    other = tmp_path / "named"
    other.mkdir()
    script = other / "script.py"
    script.write_text(source)
    env = {"BREAKEVEN_RECORD_DIR": str(other), "BREAKEVEN_PRETEND_GPU": figures}
    done = running.run([sys.executable, "-m", "breakeven._run", str(script)], other / "run", env)
    assert done.out.decode().splitlines() == [
        "NVIDIA L4 58 89",
        "Out of memory allocating 8,589,934,592 bytes (allocated so far: 0 bytes). (900000, 1048576)",
    ]


TRACED = """import traceback
import numpy as np, cupy as cp
a, host = cp.ones((3, 4)), np.ones((3, 4))
def own(x):
    raise KeyError("mine")
def tried(text):
    try:
        eval(text)
    except Exception as error:
        frames = [f"{frame.filename.rpartition('/')[2]}:{frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
        print(type(error).__name__, error.__context__, *frames)
for text in (
    "np.asarray(a)", "a + host", "host + a", "cp.add(a, host)", "cp.dot(a, host)", "cp.concatenate([a, host])", "a @ a",
    "a + cp.ones(5)", "a.reshape(5)", "a[10]", "bool(a)", "float(a)", "a.nothing", "cp.nothing", "cp.linalg.solve(a, a)",
    "np.sum(a, where=host > 0)", "setattr(a, 'shape', 5)", "cp.ElementwiseKernel('T x', 'T z', 'z = x', 'k')(3.0)",
):
    tried(text)
tried("cp.apply_along_axis(own, 0, a)")
try:
    {}["key"]
except KeyError:
    tried("a.reshape(5)")
print(cp.sum.__name__, isinstance(a.sum, type(tried.__get__(1))), cp.sum == cp.sum, hash(cp.sum) is not None)
"""


def test_tracebacks_end_in_the_programs_line(tmp_path: Path) -> None:
    out, _ = record(TRACED, tmp_path)
    *lines, own, within, last = out.splitlines()
    assert len(lines) == 18
    for line in lines:
        assert line.split()[1:] == ["None", "script.py:tried", "<string>:<module>"], line
    assert own.split()[-1] == "script.py:own" and "functions.py" not in own
    assert within.split() == ["ValueError", "'key'", "script.py:tried", "<string>:<module>"]
    assert last == "sum True True True"
