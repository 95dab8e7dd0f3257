"""`lobpcg` of `cupyx.scipy.sparse.linalg`: some eigenvectors at once; a round is one small problem on the device."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..core.calls import cupy as _cupy
from . import iterative


def _operator(given: Any, n: int) -> Any:
    if given is None:
        return None
    operator = iterative.aslinearoperator(given)
    if operator.shape != (n, n):
        raise ValueError("operator has invalid shape")
    return operator


def _factor(matrix: Any) -> Any:
    """Cholesky's factor; the host reads whether there is one."""
    cupy = _cupy()
    found = cupy.linalg.cholesky(matrix)
    if cupy.any(cupy.isnan(found)):
        raise np.linalg.LinAlgError
    return found


def _eigenvectors(A: Any, B: Any = None) -> tuple[Any, Any]:
    """Of a small problem; with a matrix on the right side, by its factor."""
    cupy = _cupy()
    if B is None:
        return cupy.linalg.eigh(A)  # type: ignore[no-any-return]
    factor = _factor(B)
    left, right = cupy.linalg.inv(factor), cupy.linalg.inv(factor.T)
    values, vectors = cupy.linalg.eigh(cupy.matmul(left, cupy.matmul(A, right)))
    return values, cupy.matmul(right, vectors)


def _blocks(rows: list[list[Any]]) -> Any:
    """One matrix of smaller ones, which are copied into it one by one."""
    cupy = _cupy()
    heights, widths = [row[0].shape[0] for row in rows], [block.shape[1] for block in rows[0]]
    whole = cupy.empty((sum(heights), sum(widths)), np.result_type(*(block.dtype for row in rows for block in row)))
    for at, row in enumerate(rows):
        top = sum(heights[:at])
        for place, block in enumerate(row):
            left = sum(widths[:place])
            whole[top : top + heights[at], left : left + widths[place]] = block
    return whole


def _gram(a: Any, b: Any) -> Any:
    return _cupy().dot(a.T.conj(), b)


def _even(a: Any) -> Any:
    return (a + a.T.conj()) / 2


def _orthonormal(B: Any, V: Any, BV: Any = None) -> tuple[Any, Any, Any, Any]:
    """The block with columns at right angles, B times it, and what it was multiplied and divided by; None where that
    fails."""
    cupy = _cupy()
    scale = V.max(axis=0) + np.finfo(V.dtype).eps
    V = V / scale
    if BV is None:
        BV = V if B is None else B(V)
    else:
        BV = BV / scale
    product = cupy.matmul(V.T.conj(), BV)
    try:
        inverse = cupy.linalg.inv(_factor(product).T)
    except np.linalg.LinAlgError:
        return None, None, None, scale
    return cupy.matmul(V, inverse), None if B is None else cupy.matmul(BV, inverse), inverse, scale


def _wanted(values: Any, count: int, largest: bool) -> Any:
    order = _cupy().argsort(values)
    return order[: -count - 1 : -1] if largest else order[:count]


def _residuals(AX: Any, BX: Any, values: Any) -> tuple[Any, Any]:
    """What is missing, and its norms."""
    cupy = _cupy()
    missing = AX - BX * values[None, :]
    return missing, cupy.sqrt(cupy.sum(missing.conj() * missing, 0))


def _dense(A: Any, B: Any, n: int, count: int, largest: bool) -> tuple[Any, Any]:
    """Of a matrix that is not much larger than the block."""
    cupy = _cupy()
    whole = None if B is None else B(cupy.eye(n, dtype=B.dtype))
    values, vectors = _eigenvectors(A(cupy.eye(n, dtype=A.dtype)), whole)
    if largest:
        values, vectors = values[::-1], vectors[:, ::-1]
    return values[:count], vectors[:, :count]


def _announce(n: int, count: int, B: Any, M: Any, Y: Any) -> None:
    bound = 0 if Y is None else Y.shape[1]
    print(
        f"Solving {'standard' if B is None else 'generalized'} eigenvalue problem with{'out' if M is None else ''} "
        f"preconditioning\n\nmatrix size {n}\nblock size {count}\n\n"
        + ("No constraints\n\n" if Y is None else f"{bound} constraint{'s' if bound > 1 else ''}\n\n")
    )


def _report(*matrices: Any) -> None:
    """Warns of matrices of the small problem that are not what they should be."""
    cupy = _cupy()
    for name, matrix in zip(("gramA", "gramB"), matrices):
        uneven = cupy.linalg.norm(matrix - matrix.T.conj(), 1)
        limit = 10 * np.finfo(matrix.dtype).eps * max(1, float(cupy.linalg.norm(matrix, 1)))
        if uneven > limit:
            text = f"Matrix {name} of the type {matrix.dtype} is not Hermitian: condition: {uneven} < {limit} fails."
            warnings.warn(text, UserWarning, stacklevel=4)


def lobpcg(
    A: Any, X: Any, B: Any = None, M: Any = None, Y: Any = None, tol: float | None = None, maxiter: int | None = None,
    largest: bool = True, verbosityLevel: int = 0, retLambdaHistory: bool = False,
    retResidualNormsHistory: bool = False,
) -> Any:  # fmt: skip
    """Eigenvalues and vectors, from the block X on."""
    cupy = _cupy()
    if verbosityLevel > 10:
        raise NotImplementedError("breakeven's stand-in for cupy prints no matrices in lobpcg")
    if X.ndim != 2:
        raise ValueError("expected rank-2 array for argument X")
    n, count = X.shape
    if verbosityLevel:
        _announce(n, count, B, M, Y)
    A, B, M = (_operator(given, n) for given in (A, B, M))
    if n - (0 if Y is None else Y.shape[1]) < 5 * count:
        if Y is not None:
            raise NotImplementedError("The dense eigensolver does not support constraints.")
        return _dense(A, B, n, min(count, n), largest)
    if tol is None or tol <= 0:
        tol = float(np.sqrt(1e-15)) * n
    freed = _constraints(B, Y)
    if Y is not None:
        freed(X)
    X, BX, _, _ = _orthonormal(B, X)
    AX = A(X)
    values, vectors = _eigenvectors(_gram(X, AX))
    first = _wanted(values, count, largest)
    values, vectors = values[first], cupy.asarray(vectors[:, first])
    X, AX = cupy.dot(X, vectors), cupy.dot(AX, vectors)
    BX = X if B is None else cupy.dot(BX, vectors)
    active = cupy.ones((count,), dtype=bool)
    history, norms = [values], []
    blocks = identity = cupy.eye(count, dtype=A.dtype)
    before = count
    P: Any = None
    AP: Any = None
    BP: Any = None
    explicit = False
    alone = True  # without the directions of the round before
    for round in range((20 if maxiter is None else maxiter) + 1):
        R, sizes = _residuals(AX, BX, values)
        norms.append(sizes)
        active = active & cupy.where(sizes > tol, True, False)
        size = int(active.sum())
        if size != before:
            before, blocks = size, cupy.eye(size, dtype=A.dtype)
        if size == 0:
            break
        if verbosityLevel:
            print("iteration %d" % round)
            print(f"current block size: {size}")
            print(f"eigenvalue(s):\n{values}")
            print(f"residual norm(s):\n{sizes}")
        R = R[:, active]
        if round:
            P, AP, BP = (None if part is None else part[:, active] for part in (P, AP, BP))
        if M is not None:
            R = M(R)
        if Y is not None:
            freed(R)
        R = R - cupy.matmul(X, cupy.matmul(BX.T.conj(), R))
        R, BR, _, _ = _orthonormal(B, R)
        AR = A(R)
        if round:
            P, BP, inverse, scale = _orthonormal(B, P, BP)
            alone = P is None
            if not alone:
                AP = cupy.dot(AP / scale, inverse)
        small = 1.0 if AR.dtype == np.float32 else 1e-4 if R.dtype == np.float32 else 1e-8
        explicit = not (sizes.max() > small and not explicit)
        if B is None:
            BX, BR, BP = X, R, P if round else None
        XAR, RAR = _gram(X, AR), _gram(R, AR)
        if explicit:
            RAR, XAX = _even(RAR), _even(_gram(X, AX))
            XBX, RBR, XBR = _gram(X, BX), _gram(R, BR), _gram(X, BR)
        else:
            XAX, XBX, RBR, XBR = cupy.diag(values), identity, blocks, cupy.zeros((count, size), A.dtype)
        if not alone:
            XAP, RAP, PAP, XBP, RBP = _gram(X, AP), _gram(R, AP), _gram(P, AP), _gram(X, BP), _gram(R, BP)
            PBP = blocks
            if explicit:
                PAP, PBP = _even(PAP), _gram(P, BP)
            of_A = _blocks([[XAX, XAR, XAP], [XAR.T.conj(), RAR, RAP], [XAP.T.conj(), RAP.T.conj(), PAP]])
            of_B = _blocks([[XBX, XBR, XBP], [XBR.T.conj(), RBR, RBP], [XBP.T.conj(), RBP.T.conj(), PBP]])
            if verbosityLevel:
                _report(of_A, of_B)
            try:
                values, vectors = _eigenvectors(of_A, of_B)
            except np.linalg.LinAlgError:
                alone = True
        if alone:
            of_A, of_B = _blocks([[XAX, XAR], [XAR.T.conj(), RAR]]), _blocks([[XBX, XBR], [XBR.T.conj(), RBR]])
            if verbosityLevel:
                _report(of_A, of_B)
            try:
                values, vectors = _eigenvectors(of_A, of_B)
            except np.linalg.LinAlgError:
                raise ValueError("eigh has failed in lobpcg iterations") from None
        first = _wanted(values, count, largest)
        values, vectors = values[first], vectors[:, first]
        history.append(values)
        of_X, of_R = vectors[:count], vectors[count:] if alone else vectors[count : count + size]
        of_P = None if alone else vectors[count + size :]

        def ahead(residual: Any, direction: Any, of_R: Any = of_R, of_P: Any = of_P) -> Any:
            made = _cupy().dot(residual, of_R)
            if of_P is not None:
                made += _cupy().dot(direction, of_P)
            return made

        old_P, old_AP, old_BP = (P, AP, BP) if not alone else (None, None, None)
        P, AP = ahead(R, old_P), ahead(AR, old_AP)
        BP = None if B is None else ahead(BR, old_BP)
        X, AX = cupy.dot(X, of_X) + P, cupy.dot(AX, of_X) + AP
        BX = X if B is None else cupy.dot(BX, of_X) + BP
    sizes = _residuals(AX, BX, values)[1]
    if verbosityLevel:
        print(f"Final iterative eigenvalue(s):\n{values}")
        print(f"Final iterative residual norm(s):\n{sizes}")
        print(f"Final postprocessing eigenvalue(s):\n{values}")
        print(f"Final residual norm(s):\n{sizes}")
    more = [made for made, asked in ((history, retLambdaHistory), (norms, retResidualNormsHistory)) if asked]
    return (values, X, *more)


def _constraints(B: Any, Y: Any) -> Any:
    """What brings a block to right angles with Y, in place."""
    if Y is None:
        return None
    cupy = _cupy()
    BY = Y if B is None else B(Y)
    small = _gram(Y, BY)

    def free(block: Any) -> None:
        block -= cupy.dot(Y, cupy.linalg.solve(small, _gram(BY, block)))

    return free


CONTENTS: dict[str, Any] = {"lobpcg": lobpcg}
