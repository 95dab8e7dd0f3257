"""Sparse matrices of the stand-in: what is copied, what the host waits for, solvers that read how far they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cupy_running import copied, device, estimate, record

pytest.importorskip("scipy")
HEAD = """import numpy as np, scipy.sparse
import cupy as cp
import cupyx.scipy.sparse as sp
import cupyx.scipy.sparse.linalg as spl
host = scipy.sparse.diags([-1.0, 4.0, -1.0], [-1, 0, 1], shape=(100, 100), format="csr")
"""
PARTS = 298 * 12 + 101 * 4


def test_each_iteration_reads_whether_it_is_the_last(tmp_path: Path) -> None:
    source = """A = sp.csr_matrix(host)
b = cp.asarray(np.ones(100))
steps = []
x, info = spl.cg(A, b, rtol=1e-8, callback=lambda _: steps.append(1))
print(len(steps), info, float(abs(A @ x - b).max()) < 1e-6)
"""
    out, workload = record(HEAD + source, tmp_path)
    steps = int(out.split()[0])
    assert out.split()[1:] == ["0", "True"]
    assert copied(workload) == {"h2d": (4, PARTS + 800)}
    reads = sum(entry["count"] for entry in workload["ops"] if "host_read" in entry["op"] and entry.get("device"))
    assert reads == steps + 2 + 1  # the norm of b, twice; the script's own
    assert device(workload)["cupyx.scipy.sparse.csr_matvec"] == steps + 2


def test_what_builds_a_matrix(tmp_path: Path) -> None:
    source = """def tried(make):
    try:
        A = make()
        print(type(A).__name__, A.nnz)
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
v, i, p = cp.ones(3), cp.arange(3, dtype="i"), cp.arange(4, dtype="i")
tried(lambda: sp.csr_matrix((v, i, p)))
tried(lambda: sp.csr_matrix((v, (i, i)), shape=(4, 4)))
tried(lambda: sp.csr_matrix(cp.eye(3)))
tried(lambda: sp.csr_matrix((np.ones(3), (np.arange(3), np.arange(3)))))
tried(lambda: sp.csr_matrix(np.eye(3)))
tried(lambda: sp.csr_matrix(cp.eye(3, dtype=int)))
tried(lambda: sp.diags([1.0, 2.0], [0, 1], shape=(3, 3)))
tried(lambda: sp.diags([-1, 2, -1], [-1, 0, 1], shape=(3, 3)))
tried(lambda: sp.hstack([sp.csr_matrix(cp.eye(3)), sp.csr_matrix(cp.eye(3))]))
tried(lambda: sp.csr_matrix(cp.eye(3)) ** 2)
"""
    out, _ = record(HEAD + source, tmp_path)
    only = "Only bool, float32, float64, complex64 and complex128 are supported"
    assert out.splitlines() == [
        "csr_matrix 3", "csr_matrix 3", "csr_matrix 3", "ValueError: row, column, and data arrays must be 1-D",
        "ValueError: Unsupported initializer format", f"ValueError: {only}", "dia_matrix 5", "dia_matrix 7",
        "coo_matrix 6", "csr_matrix 3",
    ]  # fmt: skip


def test_places_of_the_host_are_copied(tmp_path: Path) -> None:
    source = """A = sp.csr_matrix(cp.eye(4))
print(A[np.array([0, 2])].shape, A[:, np.array([1, 2])].shape, end=" ")
print(A[np.array([True, False, True, False])].shape, A[[1]].shape)
"""
    out, workload = record(HEAD + source, tmp_path)
    assert out == "(2, 4) (4, 2) (2, 4) (1, 4)\n"
    seen = estimate(workload)["workload"]
    assert (seen["h2d_copies"], seen["h2d_bytes"]) == (4, 16 + 16 + 4 + 8)


def test_operators_of_the_programs_own(tmp_path: Path) -> None:
    source = """A = sp.csr_matrix(host)
b = cp.ones(100)
twice = spl.LinearOperator((100, 100), matvec=lambda x: 2 * (A @ x), dtype="f8")
for solve in (spl.cg, spl.cgs, spl.bicgstab, spl.gmres):
    x, info = solve(twice, b, rtol=1e-10)
    print(info, float(abs(2 * (A @ x) - b).max()) < 1e-6)
print(spl.aslinearoperator(A), float((twice @ b)[0]))
"""
    out, _ = record(HEAD + source, tmp_path)
    assert out == "0 True\n" * 4 + "<100x100 MatrixLinearOperator with dtype=float64> 6.0\n"


def test_factors_and_classes_hold_arrays_of_the_device(tmp_path: Path) -> None:
    source = """import cupyx.scipy.interpolate as interpolate
x = cp.linspace(0.0, 1.0, 8)
curve = interpolate.CubicSpline(x, x * 2)
print(type(curve(x)).__module__, curve(0.5).round(6), type(curve.derivative()).__name__, curve.x.shape)
A = sp.csc_matrix(cp.eye(3) * 2)
print(spl.splu(A).solve(cp.ones(3)), spl.factorized(A)(cp.ones(3)))
print(interpolate.CubicSpline(np.arange(3.0), np.arange(3.0))(1.0).round(6))  # which brings them
"""
    out, workload = record(HEAD + source, tmp_path)
    assert out.splitlines() == ["cupy 1.0 CubicSpline (8,)", "[0.5 0.5 0.5] [0.5 0.5 0.5]", "1.0"]
    assert device(workload)["cupyx.scipy.sparse.linalg.SuperLU.solve"] == 2


def test_matrices_pickle_and_are_copied_on_the_device(tmp_path: Path) -> None:
    source = """import copy, pickle
import cupy as cp
from cupyx.scipy import sparse
a = sparse.csr_matrix(cp.eye(4))
print(type(a), isinstance(copy.deepcopy(a), sparse.csr_matrix), cp.get_default_memory_pool().used_bytes() > 0)
b = pickle.loads(pickle.dumps(a))
print(type(b) is type(a), b.toarray().sum())
"""
    out, workload = record(source, tmp_path)
    assert out == "<class 'cupyx.scipy.sparse.csr_matrix'> True True\nTrue 4.0\n"
    into, back = (copied(workload)[way] for way in ("h2d", "d2h"))
    parts = 4 * 8 + 4 * 4 + 5 * 4
    assert (into, back) == ((3, parts), (4, parts + 8))


def test_factors_of_lu_are_made_on_the_host(tmp_path: Path) -> None:
    source = """A = sp.csr_matrix(host)
lu = spl.splu(A)
x = lu.solve(cp.ones(100))
print(lu.L.nnz + lu.U.nnz, bool(abs(A @ x - 1).max() < 1e-12), bool(abs(A.T @ lu.solve(cp.ones(100), "T") - 1).max() < 1e-12))
"""
    out, workload = record(HEAD + source, tmp_path)
    elements, *right = out.split()
    assert right == ["True", "True"]
    assert copied(workload) == {"h2d": (3 + 8, PARTS + 2 * 400 + 12 * int(elements) + 2 * 404), "d2h": (3, PARTS)}
    (made,) = [entry for entry in workload["ops"] if entry["name"] == "scipy.sparse.linalg.splu"]
    assert made.get("device") is None
    assert device(workload)["cupyx.scipy.sparse.linalg.SuperLU.solve"] == 2
    assert device(workload)["cupy.ndarray.__getitem__"] == 4  # the order of the factors, and back


def test_factors_without_more_elements_are_made_on_the_device(tmp_path: Path) -> None:
    source = """A = sp.csr_matrix(host)
x = spl.spilu(A, fill_factor=1).solve(cp.ones(100))
print(float(abs(A @ x - 1).max()) < 1e-12)
"""
    out, workload = record(HEAD + source, tmp_path)
    assert out == "True\n"
    factor = 199 * 12 + 101 * 4
    assert copied(workload) == {"h2d": (3 + 6, PARTS + 2 * factor), "d2h": (3, PARTS)}


def test_lsqr_is_one_factorisation(tmp_path: Path) -> None:
    source = """A = sp.csr_matrix(cp.eye(6) * 2)
found = spl.lsqr(A, cp.ones(6))
print(found[0], len(found), set(found[1:]))
try:
    spl.lsqr(sp.csr_matrix(cp.ones((6, 3))), cp.ones(6))
except np.linalg.LinAlgError as error:
    print(error)
"""
    out, workload = record(HEAD + source, tmp_path)
    assert out == "[0.5 0.5 0.5 0.5 0.5 0.5] 10 {None}\nLast 2 dimensions of the array must be square\n"
    assert device(workload)["cupyx.scipy.sparse.linalg.spsolve"] == 1


def test_what_cupy_warns_of_and_what_not(tmp_path: Path) -> None:
    source = """import warnings
import cupyx.scipy.linalg, cupyx.scipy.stats
def said(f):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        f()
    print([f"{one.category.__name__}: {one.message}" for one in seen])
A = sp.csr_matrix(cp.eye(3, dtype="f"))
print((A / 0).data, (A / 2).dtype, (A.tocsc() / cp.array(4.0)).data)
said(lambda: spl.spsolve(A.tocsc(), cp.ones(3)))
said(lambda: spl.spsolve(sp.csr_matrix((3, 3)), cp.ones(3)))
said(lambda: cupyx.scipy.linalg.lu_factor(cp.zeros((2, 2))))
said(lambda: cupyx.scipy.stats.zscore(cp.ones(3)))
"""
    out, _ = record(HEAD + source, tmp_path)
    assert out.splitlines() == [
        "[inf inf inf] float64 [0.25 0.25 0.25]",
        "['SparseEfficiencyWarning: CSR format is required. Converting to CSR format.']", "[]",
        "['RuntimeWarning: Diagonal number 1 is exactly zero. Singular matrix.']", "[]",
    ]  # fmt: skip


def reads(workload: dict[str, Any]) -> int:
    """How often the host reads a value, or copies one back."""
    read = sum(entry["count"] for entry in workload["ops"] if "host_read" in entry["op"] and entry.get("device"))
    return read + copied(workload).get("d2h", (0, 0))[0]


def on_device(workload: dict[str, Any]) -> set[str]:
    """The libraries whose names ran on the device."""
    return {name.partition(".")[0] for name in device(workload)}


def test_residuals_are_read_in_each_step(tmp_path: Path) -> None:
    source = """A, b = sp.csr_matrix(host), cp.ones(100)
steps = []
x, info = spl.minres(A, b, callback=steps.append)
print(len(steps), info)
"""
    out, workload = record(HEAD + source, tmp_path)
    steps, info = map(int, out.split())
    assert info == 0 and steps > 3
    assert reads(workload) == 2 + 1 + 3 * steps  # whether the first is nothing, the first; three norms
    assert device(workload)["cupyx.scipy.sparse.csr_matvec"] == 1 + steps
    assert on_device(workload) == {"cupy", "cupyx"}


def test_least_squares_multiply_by_both_sides(tmp_path: Path) -> None:
    source = """import scipy.sparse.linalg
tall = scipy.sparse.random(60, 20, 0.2, random_state=0, format="csr") + scipy.sparse.eye(60, 20, format="csr")
b = np.arange(60.0)
x, istop, steps, *_ = spl.lsmr(sp.csr_matrix(tall), cp.asarray(b))
y, *told = scipy.sparse.linalg.lsmr(tall, b)
print(steps, [istop, steps] == told[:2], bool(np.allclose(x.get(), y, atol=1e-4)))
"""
    out, workload = record(HEAD + source, tmp_path)
    steps, *same = out.split()
    assert same == ["True", "True"]
    assert device(workload)["cupyx.scipy.sparse.csr_matvec"] == 1 + 2 * int(steps)
    assert reads(workload) == 3 + 3 * int(steps) + 1
    assert device(workload)["cupy.linalg.norm"] == 2 + 3 * int(steps)


def test_eigenvalues_by_restarts(tmp_path: Path) -> None:
    source = """matrix = host + scipy.sparse.diags(np.linspace(0.0, 50.0, 100), format="csr")
w = spl.eigsh(sp.csr_matrix(matrix), k=2, ncv=20, tol=1e-10, return_eigenvectors=False)
print(bool(np.allclose(w.get(), np.linalg.eigvalsh(matrix.toarray())[-2:])))
"""
    out, workload = record(HEAD + source, tmp_path)
    assert out == "True\n"
    names = device(workload)
    back, rounds = copied(workload), names["cupy.greater"]  # `while res > tol`
    assert rounds > 1
    steps = 20 + (rounds - 1) * (20 - 2)
    assert names["cupyx.scipy.sparse.csr_matvec"] == steps
    assert back["d2h"] == (2 * rounds + (rounds - 1) + 1, rounds * 2 * 160 + (rounds - 1) * 16 + 16)  # and `w`
    assert back["h2d"] == (3 + 2 * rounds, 298 * 12 + 404 + rounds * (16 + 20 * 16))
    made = [entry for entry in workload["ops"] if entry["name"] == "numpy.linalg.eigh"]
    assert sum(entry["count"] for entry in made if entry.get("device") is None) == rounds
    assert {name.partition(".")[0] for name in names} == {"cupy", "cupyx"}


def test_singular_values_by_eigenvalues(tmp_path: Path) -> None:
    source = """tall = scipy.sparse.random(90, 60, 0.2, random_state=0, format="csr")
for matrix in (tall, tall.T.tocsr()):
    u, s, v = spl.svds(sp.csr_matrix(matrix), k=3)
    near = np.allclose(np.sort(s.get()), np.sort(np.linalg.svd(matrix.toarray())[1])[-3:])
    print(near, np.allclose(matrix @ v.get().T, (u * s).get()))
"""
    out, _ = record(HEAD + source, tmp_path)
    assert out == "True True\n" * 2


def test_eigenvectors_of_a_block(tmp_path: Path) -> None:
    source = """matrix = host + scipy.sparse.diags(np.linspace(0.0, 50.0, 100), format="csr")
A, X = sp.csr_matrix(matrix), cp.asarray(np.random.default_rng(0).random((100, 3)))
w, v, norms = spl.lobpcg(A, X, maxiter=10, tol=1e-9, retResidualNormsHistory=True)
print(len(norms), bool(np.allclose(np.sort(w.get()), np.linalg.eigvalsh(matrix.toarray())[-3:], rtol=0.01)))
"""
    out, workload = record(HEAD + source, tmp_path)
    assert out == "11 True\n"
    assert device(workload)["cupyx.scipy.sparse.csr_matvec"] == 1 + 11
    assert device(workload)["cupy.linalg.eigh"] == 1 + 11
    factors = 1 + 11 + 10 + 11  # of the block, residuals, directions, the small problems: whether there are any
    picked = 11 + 2 * 10  # by truth values: residuals, and directions with what they are multiplied to
    assert reads(workload) == factors + picked + 2 * 11 + (1 + 11) + 1  # how many, how large; eigenvalues; the script's
    assert on_device(workload) == {"cupy", "cupyx"}


def test_names_that_matrices_have_and_arrays_have_not(tmp_path: Path) -> None:
    source = """import warnings
warnings.simplefilter("error")
A = sp.csr_matrix(cp.eye(2, 3))
print(A.mT.shape)
for made in (A, sp.csr_array(cp.eye(2))):
    for name in ("A", "H"):
        try:
            getattr(made, name)
        except (AttributeError, DeprecationWarning) as error:
            print(type(error).__name__, str(error).partition(";")[0])
warnings.simplefilter("ignore")
print(A.A)
"""
    out, _ = record(HEAD + source, tmp_path)
    assert out.splitlines() == [
        "(3, 2)", *(f"DeprecationWarning `spmatrix.{name}` is deprecated" for name in "AH"),
        "AttributeError 'csr_array' object has no attribute 'A'", "AttributeError 'csr_array' object has no attribute "
        "'H'",
        "[[1. 0. 0.]", " [0. 1. 0.]]",
    ]  # fmt: skip


def test_comparisons_in_which_rows_and_columns_stand_for_all(tmp_path: Path) -> None:
    source = """import operator
import numpy as np
import cupy as cp
import cupyx.scipy.sparse as sparse
whole, row, column = np.array([[1.0, 0, 2], [0, 3, 0]]), np.array([[1.0, 0, 5]]), np.array([[0.0], [3]])
for name in ("eq", "ne", "gt", "lt", "ge", "le"):
    compare = getattr(operator, name)
    for a, b in ((whole, row), (row, whole), (whole, column), (row, column)):
        found = compare(sparse.csr_matrix(cp.asarray(a)), sparse.csr_matrix(cp.asarray(b)))
        assert (found.toarray().get() == compare(a, b)).all() and found.dtype == bool
print(sparse.csr_matrix(cp.asarray(whole)).maximum(sparse.csr_matrix(cp.asarray(row))).toarray().tolist())
try:
    sparse.csr_matrix(cp.asarray(whole)) == sparse.csr_matrix(cp.ones((3, 3)))
except ValueError as error:
    print(error)
"""
    out, _ = record(source, tmp_path)
    assert out == "[[1.0, 0.0, 5.0], [1.0, 3.0, 5.0]]\ninconsistent shape\n"
