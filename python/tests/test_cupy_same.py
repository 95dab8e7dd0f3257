"""The same script with NumPy and with the stand-in: the same output and exit code."""

from __future__ import annotations

from pathlib import Path

import pytest
from cupy_running import copied, device, record

HEAD = """import sys
xp = __import__(sys.argv[1])
def host(a):
    return a.get() if hasattr(a, "get") else a
"""
SCRIPTS = {
    "tiny arrays in a loop": """a = xp.ones(10)
for _ in range(300):
    a = a * 1.001 + 0.5
print(f"{float(a.sum()):.9f}")
""",
    "small matrices in a loop": """m = xp.eye(4) * 0.5
for _ in range(100):
    m = m @ m + xp.eye(4) * 0.25
print(host(m))
""",
    "one addition per element": """v = xp.zeros(50)
for i in range(50):
    v[i] = v[i] + i
print(v, v.sum(), int(v.max()))
if v.sum() > 10:
    raise SystemExit(3)
""",
    "indexing": """a = xp.arange(24).reshape(2, 3, 4)
print(a[0], a[:, 1], a[..., -1], a[a % 2 == 0], a[:, [0, 2]], a[xp.array([1, 0])], a[1, 2, 3])
a[0, :, 1] = -1
a[a > 20] = 0
print(a.tolist(), a.T.shape, len(a), [int(x) for x in a[0, 0]])
""",
    "reductions and order": """a = xp.asarray([[3.0, 1.0, 2.0], [9.0, 7.0, 8.0]])
print(a.sum(), a.mean(axis=1), a.std(), a.argmax(axis=1), a.cumsum(), xp.sort(a, axis=1), xp.argsort(a[0]))
print(xp.unique(xp.array([3, 1, 3])), xp.median(a), xp.percentile(a, 30), xp.any(a > 8), xp.nonzero(a > 2)[1])
print(xp.where(a > 2, a, 0), xp.clip(a, 2, 8), xp.diff(a), xp.histogram(a, 2)[0], xp.bincount(xp.array([0, 2, 2])))
""",
    "linear algebra and transforms": """a = xp.asarray([[4.0, 1.0], [1.0, 3.0]])
print(xp.linalg.inv(a).round(6), xp.linalg.det(a).round(6), xp.linalg.solve(a, xp.ones(2)).round(6))
print(xp.linalg.eigvalsh(a).round(6), xp.linalg.norm(a).round(6), xp.einsum("ij,jk->ik", a, a), xp.kron(a, a).shape)
print(abs(xp.fft.fft(xp.arange(8.0))).round(6), xp.fft.irfft(xp.fft.rfft(xp.arange(4.0))), xp.outer(a[0], a[1]))
""",
    "types and shapes": """a = xp.ones((2, 3), dtype=xp.float32)
print(a.dtype, (a + 1).dtype, (a * xp.float64(2)).dtype, a.astype(xp.int8).dtype, a.nbytes, a.shape, a.ndim, a.size)
print(xp.concatenate([a, a]).shape, xp.stack([a, a], axis=-1).shape, xp.expand_dims(a, 0).shape, a.ravel().shape)
print(xp.tile(xp.arange(2), 3), xp.repeat(xp.arange(2), 2), xp.roll(xp.arange(4), 1), xp.pad(xp.arange(2), 1))
print(xp.result_type(a, xp.float64), xp.iinfo(xp.int32).max, xp.pi, xp.issubdtype(a.dtype, xp.floating))
""",
    "an error of its own": "xp.ones(3) + xp.ones(4)\n",
    "a branch on an array": "a = xp.ones(3)\nif a:\n    pass\n",
}


@pytest.mark.parametrize("recorder", ["native", "ast"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_the_same_output(script: str, recorder: str, tmp_path: Path) -> None:
    code = {"one addition per element": 3, "an error of its own": 1, "a branch on an array": 1}.get(script, 0)
    outputs = []
    for module in ("numpy", "cupy"):
        folder = tmp_path / module
        folder.mkdir()
        out, _ = record(HEAD + SCRIPTS[script], folder, recorder, code, (module,))
        outputs.append(out)
    assert outputs[0] == outputs[1]


def test_arrays_made_by_an_index_and_streams_of_threads(tmp_path: Path) -> None:
    source = """import threading
import cupy as cp
print(cp.r_[cp.array([1, 2]), 5], cp.c_[cp.arange(2), cp.arange(2)].shape, cp.mgrid[0:2, 0:3].shape, cp.ogrid[0:3])
inside = threading.Event()
seen = []
def work():
    inside.wait()
    seen.append(cp.cuda.get_current_stream() == cp.cuda.Stream.null)
thread = threading.Thread(target=work)
thread.start()
with cp.cuda.Stream(non_blocking=True):
    inside.set()
    thread.join()
print(seen)
"""
    out, _ = record(source, tmp_path)
    assert out == "[1 2 5] (2, 2) (2, 2, 3) [0 1 2]\n[True]\n"


def test_types_of_random_numbers_by_place(tmp_path: Path) -> None:
    source = """import cupy as cp
r = cp.random
for drawn in (
    r.random((2, 2), cp.float32), r.standard_normal(2, cp.float32), r.standard_exponential(2, "f4"), r.sample(2, "f4"),
    r.RandomState(0).random_sample(3, "f4"), r.laplace(0, 1, 3, cp.float32), r.gumbel(0, 1, 3, cp.float32),
    r.chisquare(2, 3, "f4"), r.binomial(10, 0.5, 3, cp.int32), r.geometric(0.5, 3, cp.int32),
    r.default_rng(0).random(3, cp.float32),
):
    print(drawn.dtype, end=" ")
"""
    out, _ = record(source, tmp_path)
    assert out.split() == ["float32"] * 8 + ["int32"] * 2 + ["float32"]


def test_transforms_by_plan_and_by_scipy(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import numpy as np, scipy.fft
import cupy as cp
import cupyx.scipy.fft as transforms
a = cp.arange(16.0).reshape(4, 4).astype(cp.complex64)
plan = transforms.get_fft_plan(a)
with plan:
    first = transforms.fft2(a)
with scipy.fft.set_backend(transforms):
    third = scipy.fft.fft2(a)
print([np.allclose(found.get(), np.fft.fft2(a.get())) for found in (first, transforms.fft2(a, plan=plan), third)])
b = c = cp.eye(2)
b @= cp.ones((2, 2))
print(b is c, type(third) is cp.ndarray)
"""
    out, workload = record(source, tmp_path)
    assert out == "[True, True, True]\nFalse True\n"
    assert sum(entry["count"] for entry in workload["ops"] if entry["name"] == "cupyx.scipy.fft.fft2") == 3


def test_cupy_as_the_backend_of_scipys_transforms(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import numpy as np, scipy.fft
import cupy as cp
import cupyx.scipy.fft as transforms
a, host = cp.arange(4.0), np.arange(4.0)
with scipy.fft.set_backend(transforms):
    print(type(scipy.fft.rfft(a)).__module__, type(scipy.fft.rfft(host)).__module__)
with scipy.fft.set_backend(transforms, coerce=True):
    print(type(scipy.fft.rfft(host)).__module__)
scipy.fft.set_global_backend(transforms)
print(np.allclose(scipy.fft.ifft(scipy.fft.fft(a)).get(), host), type(scipy.fft.dctn(a)).__module__)
try:
    scipy.fft.fft(host)
except NotImplementedError as error:
    print(error)
"""
    out, workload = record(source, tmp_path)
    assert out == (
        "cupy numpy\ncupy\nTrue cupy\nNo selected backends had an implementation for this function.\n"
    )
    assert copied(workload) == {"h2d": (1, 32), "d2h": (1, 64)}  # brought, because it may be


def test_distances(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import numpy as np
import cupy as cp
import scipy.spatial.distance
from cupyx.scipy import spatial
from cupyx.scipy.spatial import distance
rng = np.random.default_rng(0)
x, y = rng.random((6, 3)), rng.random((4, 3))
a, b = cp.asarray(x), cp.asarray(y)
for metric in ("euclidean", "cosine", "cityblock", "sqe"):
    found = distance.cdist(a, b, metric)
    print(np.allclose(found.get(), scipy.spatial.distance.cdist(x, y, {"sqe": "sqeuclidean"}.get(metric, metric))), end=" ")
print(np.allclose(distance.pdist(a).get(), scipy.spatial.distance.pdist(x)))
p, q = np.array([[0.2, 0.8]]), np.array([[0.5, 0.5]])
given = cp.asarray(p), cp.asarray(q)
print(np.isclose(distance.hellinger(*given).get(), np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum() / 2)), end=" ")
print(np.isclose(distance.kl_divergence(*given).get(), (p * np.log(p / q)).sum()))
print(distance.cdist(a.astype("f"), b.astype("f")).dtype, distance.cdist(a.astype(int), b.astype(int)).dtype)
print(type(distance.euclidean(a[0], b[0])).__module__, spatial.distance_matrix(x, y).shape)
for call in (
    lambda: distance.cdist(a, b, "dice"), lambda: distance.cdist(a, b[:, :2]), lambda: distance.cdist(x, b),
    lambda: spatial.Delaunay(a),
):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
"""
    out, workload = record(source, tmp_path)
    assert out.splitlines() == [
        "True True True True True",
        "True True",
        "float32 float32",
        "cupy (6, 4)",
        "ValueError: Unknown Distance Metric: dice",
        "ValueError: XA and XB must have the same number of columns (i.e. feature dimension.)",
        "TypeError: Unsupported type <class 'numpy.ndarray'>",
        "AttributeError: breakeven's stand-in for cupy has no cupyx.scipy.spatial.Delaunay",
    ]
    assert copied(workload)["h2d"] == (6, 2 * (144 + 96) + 2 * 16)  # of which `distance_matrix` brings two


def test_nearest_points(tmp_path: Path) -> None:
    scipy = pytest.importorskip("scipy.spatial")
    assert scipy
    source = """import numpy as np, cupy as cp, scipy.spatial
from cupyx.scipy.spatial import KDTree
rng = np.random.default_rng(0)
x, q = rng.random((300, 3)), rng.random((40, 3))
a, b = cp.asarray(x), cp.asarray(q)
tree, plain = KDTree(a), scipy.spatial.KDTree(x)
for k, p in ((1, 2), (3, 1), ([2, 4], 2), (2, np.inf)):
    (d, i), (e, j) = tree.query(b, k=k, p=p), plain.query(q, k=k, p=p)
    print(d.shape == e.shape and np.allclose(d.get(), e) and bool((i.get() == j).all()), end=" ")
(d, i), (e, j) = tree.query(b, 5, distance_upper_bound=0.08), plain.query(q, 5, distance_upper_bound=0.08)
print(bool((d.get() == e).all()) or np.allclose(d.get(), e), bool((i.get() == j).all()), tree.query(b[0])[0].shape)
near = zip(tree.query_ball_point(b, 0.2), plain.query_ball_point(q, 0.2, return_sorted=True))
print(all(m.tolist() == n for m, n in near), end=" ")
print((tree.query_ball_point(b, 0.2, return_length=True).get() == plain.query_ball_point(q, 0.2, return_length=True)).all())
print({tuple(pair) for pair in tree.query_pairs(0.1).tolist()} == plain.query_pairs(0.1))
boxed = KDTree(a, boxsize=1.0).query(b)[0]
print(np.allclose(boxed.get(), scipy.spatial.KDTree(x, boxsize=1.0).query(q)[0]))
for call in (
    lambda: tree.query(q), lambda: tree.query(b[:, :2]), lambda: tree.count_neighbors(tree, 1), lambda: KDTree(a, boxsize=0.5),
):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
"""
    out, _ = record(source, tmp_path)
    assert out.splitlines() == [
        "True True True True True True (1,)",
        "True True",
        "True",
        "True",
        "TypeError: Unsupported type <class 'numpy.ndarray'>",
        "ValueError: The number of dimensions of the query points must match with the tree ones. Expected 3, got: 2",
        "NotImplementedError: count_neighbors is not available on CuPy",
        "ValueError: Some input data are greater than the size of the periodic box.",
    ]


def test_nearest_points_are_read_as_with_cupy(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import numpy as np, cupy as cp
from cupyx.scipy.spatial import KDTree
tree = KDTree(cp.asarray(np.random.default_rng(0).random((1000, 2))))
far, which = tree.query(tree.data, k=4)
tree.query_ball_point(tree.data[:8], 0.1)
"""
    _, workload = record(source, tmp_path)
    seen = device(workload)
    assert seen["cupy.full"] == 1 + 2 + 1
    # whether the exponent is infinite; of how many in reach all and of each
    assert copied(workload) == {"h2d": (1, 16_000), "d2h": (1, 64)}
    assert seen["cupy.ndarray.item"] == 1 + 1


def test_systems_by_lapack(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import numpy as np, cupy as cp
from cupyx import lapack
rng = np.random.default_rng(0)
m, b = rng.random((5, 5)) + 5 * np.eye(5), rng.random((5, 2))
for order in "CF":
    a, x = cp.asarray(m, order=order), cp.asarray(b, order="F")
    print(lapack.gesv(a, x), np.allclose(x.get(), np.linalg.solve(m, b)), np.allclose(a.get(), m))
tall, flat = rng.random((7, 3)), rng.random((3, 7))
for k in (tall, flat):
    for side in (rng.random(len(k)), rng.random((len(k), 2))):
        print(np.allclose(lapack.gels(cp.asarray(k), cp.asarray(side)).get(), np.linalg.lstsq(k, side)[0]), end=" ")
print()
s = m @ m.T
z = s + 1j * (m - m.T)
for k, side in ((s, b), (s, b[:, 0]), (z, b), (np.stack([s, s + np.eye(5)]), np.stack([b, b])), (s.astype("f"), b.astype("f"))):
    x = lapack.posv(cp.asarray(k), cp.asarray(side))
    print(np.allclose(x.get(), np.linalg.solve(k, side), rtol=1e-3), x.dtype, end=" ")
print(np.allclose(lapack.potrs(cp.linalg.cholesky(cp.asarray(s)).T.copy(), cp.asarray(b), False).get(), np.linalg.solve(s, b)))
for call in (
    lambda: lapack.gesv(cp.asarray(m), cp.asarray(b)), lambda: lapack.gels(cp.asarray(m), cp.asarray(b, dtype="f")),
    lambda: lapack.posv(m, b), lambda: lapack.gesv(cp.asarray(m.astype(int)), cp.asarray(b.astype(int))),
):
    try:
        call()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
"""
    out, _ = record(source, tmp_path)
    assert out.splitlines() == [
        "None True False",
        "None True False",
        "True True True True ",
        "True float64 True float64 True complex128 True float64 True float32 True",
        "ValueError: b must be F-contiguous.",
        "ValueError: dtype mismatch (a: float64, b: float32)",
        "LinAlgError: cupy.linalg only supports cupy.ndarray",
        "TypeError: unsupported dtype (actual: int64)",
    ]


def test_wavelets_that_scipy_has_no_longer(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import warnings, numpy as np, cupy as cp
from cupyx.scipy import signal
def hat(points, a):
    at = np.arange(points) - (points - 1) / 2
    return 2 / (np.sqrt(3 * a) * np.pi ** 0.25) * (1 - (at / a) ** 2) * np.exp(-((at / a) ** 2) / 2)
try:
    warnings.simplefilter("error")
    signal.ricker(10, 4.0)
except np.exceptions.VisibleDeprecationWarning as warning:
    print(str(warning)[:36])
warnings.simplefilter("ignore")
print(np.allclose(signal.ricker(100, 4.0).get(), hat(100, 4.0)), signal.qmf(cp.arange(1.0, 4)))
x = np.linspace(-np.pi, np.pi, 50)
for complete in (True, False):
    wave = (np.exp(3j * x) - complete * np.exp(-4.5)) * np.exp(-0.5 * x**2) * np.pi**-0.25
    print(np.allclose(signal.morlet(50, 3.0, 0.5, complete).get(), wave), end=" ")
x = (np.arange(40) - 39 / 2) / 3
print(np.allclose(signal.morlet2(40, 3.0).get(), np.exp(5j * x) * np.exp(-0.5 * x**2) * np.pi**-0.25 * np.sqrt(1 / 3)))
data = np.random.default_rng(0).random(60)
found = signal.cwt(cp.asarray(data), signal.ricker, np.arange(1, 5))
print(np.allclose(found.get(), [np.convolve(data, hat(min(10 * a, 60), a)[::-1], "same") for a in range(1, 5)]))
"""
    out, workload = record(source, tmp_path)
    assert out.splitlines() == ["Following the change in SciPy 1.12, ", "True [ 3. -2.  1.]", "True True True", "True"]
    assert copied(workload)["h2d"] == (1, 480)


def test_transforms_by_fftpack(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import numpy as np, cupy as cp, scipy.fftpack
from cupyx.scipy import fftpack
x = np.random.default_rng(0).random((6, 10))
a = cp.asarray(x)
for name in "fft ifft rfft irfft fft2 ifft2 fftn ifftn".split():
    print(np.allclose(getattr(fftpack, name)(a).get(), getattr(scipy.fftpack, name)(x)), end=" ")
plan = fftpack.get_fft_plan(a, axes=1)
with plan:
    print(fftpack.fft(a.astype("f"), plan=plan).dtype, hasattr(fftpack, "dct"))
"""
    out, workload = record(source, tmp_path)
    assert out == "True " * 8 + "complex64 False\n"
    assert device(workload)["cupyx.scipy.fftpack.fft"] == 2


def test_a_view_knows_whose_it_is(tmp_path: Path) -> None:
    source = """import cupy as cp
a = cp.ones((3, 3))
print(a.base, a[1:].base is a, a.T[0].base is a, a.view().base is a, a.reshape(-1).base is a, a.copy().base, (a + 1).base)
kept = cp.arange(6.0)[2:]
print(kept.base, a[0].base.base)
"""
    out, workload = record(source, tmp_path)
    assert out == "None True True True True None None\n[0. 1. 2. 3. 4. 5.] None\n"
    assert copied(workload) == {"d2h": (1, 48)}


def test_elements_one_after_the_other_where_they_lie(tmp_path: Path) -> None:
    source = HEAD + """a = xp.arange(6.0).reshape(2, 3)
turned = a.T
turned.flat[1] = 100
turned.flat[-2:] = [7, 8]
print(a, len(a.flat), a.flat[4], a.flat[1:5:2], [float(v) for v in turned.flat], a.flat.copy().shape)
a.flat[...] = 3
print(a.sum(), a.flat.base is a)
try:
    a.flat[0, 1]
except IndexError:
    print("refused")
print(xp.argmax(a, axis=1), a.argmin(), a.real is a, bytes(a[0, :1]))
xp.add.at(a, [0, 0, 1], 1.0)
xp.maximum.at(a, (slice(None), [0, 1]), sys.modules["numpy"].array([4.0, 9.0]))
print(a)
"""
    (tmp_path / "numpy").mkdir()
    (tmp_path / "cupy").mkdir()
    expected, _ = record(source, tmp_path / "numpy", arguments=("numpy",))
    out, workload = record(source, tmp_path / "cupy", arguments=("cupy",))
    assert out == expected
    assert copied(workload)["h2d"] == (4, 16 + 24 + 16 + 16)


def test_filters_give_back_what_they_write_into(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import cupy as cp
from cupyx.scipy import ndimage
a, out = cp.arange(16.0).reshape(4, 4), cp.zeros((4, 4))
print(ndimage.gaussian_filter(a, 1, output=out) is out, ndimage.median_filter(a, 3, None, out) is out, float(out[1, 1]))
print(ndimage.uniform_filter(a, 3) is out, cp.atleast_1d(a) is a, cp.argmax(a, axis=1, dtype="i4").dtype)
"""
    out, _ = record(source, tmp_path)
    assert out == "True True 5.0\nFalse True int32\n"


def test_arrays_of_other_libraries_on_the_device_are_operands(tmp_path: Path) -> None:
    source = """import cupy as cp
class Other:
    def __init__(self, array):
        self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__
a, ones, places = cp.arange(4.0), Other(cp.ones(4)), Other(cp.array([1, 2]))
print(a + ones, cp.multiply(ones, 2), a[places])
a[places] = 7
a[:2] = Other(cp.array([8.0, 9.0]))
print(a)
m = cp.arange(12.0).reshape(3, 4)
print(all(bool((cp.asarray(Other(part)) == part).all()) for part in (m.T, m[::2], m[:, ::2], m[::-1], m[:0], m[:, 1])))
cp.asarray(Other(m[:, 1]))[:] = -1
class Exchanged:
    def __dlpack__(self, **options): return m.__dlpack__(stream=1)
    def __dlpack_device__(self): return m.__dlpack_device__()
there = cp.from_dlpack(Exchanged())
there += 1
print(m[0])
"""
    out, workload = record(source, tmp_path)
    assert out == "[1. 2. 3. 4.] [2. 2. 2. 2.] [1. 2.]\n[8. 9. 7. 3.]\nTrue\n[1. 0. 3. 4.]\n"
    assert copied(workload)["h2d"] == (2, 32)


def test_what_numpy_has_no_longer(tmp_path: Path) -> None:
    source = """import numpy as np
import cupy as cp
print(cp.asfarray(np.arange(2, dtype="i")).dtype, cp.asfarray(cp.arange(2), int).dtype, cp.asfarray([1], "f").dtype)
print(cp.msort(cp.array([[3, 1], [2, 5]])).tolist())
cp.random.seed(1)
cp.random.reset_states()
print(cp.random.rand(2).shape)
"""
    out, workload = record(source, tmp_path)
    assert out == "float64 float64 float32\n[[2, 1], [3, 5]]\n(2,)\n"
    assert copied(workload)["h2d"] == (3, 16 + 4 + 32)


def test_polynomials_lowest_power_first(tmp_path: Path) -> None:
    source = HEAD + """
if sys.argv[1] == "cupy":
    from cupy.polynomial import polynomial as P, polyutils
else:
    from numpy.polynomial import polynomial as P, polyutils
c, x = xp.array([6.0, -5.0, 1.0, 0.0]), xp.linspace(0, 4, 5)
print(P.polyval(x, c), P.polyvalfromroots(x, xp.array([2, 3])), P.polyvander(x, 2).shape, P.polycompanion(c))
print(polyutils.trimcoef(c, 1), polyutils.trimseq(c), polyutils.as_series([c, xp.arange(3)]))
for call in (lambda: P.polyvander(x, -1), lambda: polyutils.trimcoef(c, -1)):
    try:
        call()
    except ValueError as error:
        print(str(error).replace("deg ", "degree "))
"""
    outputs = []
    for module in ("numpy", "cupy"):
        (tmp_path / module).mkdir()
        outputs.append(record(source, tmp_path / module, arguments=(module,))[0])
    assert outputs[0] == outputs[1]


def test_systems_are_what_functions_of_signals_take(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = """import cupy as cp
import cupyx.scipy.signal as signal
system = signal.lti(cp.asarray([1.0]), cp.asarray([1.0, 1.0]))
print(signal.step(system)[1][1].round(3), signal.impulse(system)[1][0], signal.freqresp(system)[1].dtype)
print(signal.lsim(system, cp.ones(3), cp.arange(3.0))[1].round(3))
print(signal.dstep(signal.dlti(cp.asarray([1.0]), cp.asarray([1.0, 0.5]), dt=0.1), n=3)[1][0].ravel())
print(type(system.to_ss().A).__module__, isinstance(system, signal.lti))
"""
    out, _ = record(source, tmp_path)
    assert out == "0.068 1.0 complex128\n[0.    0.632 0.865]\n[0.  1.  0.5]\ncupy True\n"


def test_warnings_name_the_line_of_the_script(tmp_path: Path) -> None:
    source = """import warnings, cupy as cp
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    cp.ones(3, dtype=complex).astype(float)
    cp.polyfit(cp.arange(3.0), cp.arange(3.0), 5)
print([(one.filename == __file__, one.lineno) for one in seen])
"""
    out, _ = record(source, tmp_path)
    assert out == "[(True, 4), (True, 5)]\n"
