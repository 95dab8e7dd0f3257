"""Sparse tensors: the arrays that they are made of, and a product of one as the engine takes it."""

from __future__ import annotations

from . import operands, sparse_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


#: Products by a sparse matrix, and which argument it is; the other one follows.
_PRODUCTS = {
    "aten.mm": 0, "aten.mv": 0, "aten._sparse_mm": 0,
    "aten.addmm": 1, "aten.addmv": 1, "aten._sparse_addmm": 1,
}  # fmt: skip
#: What all of them are recorded as.
PRODUCT = "aten._sparse_mm"


def factors(name: str, args: tuple[Any, ...]) -> tuple[Any, Any] | None:
    """The sparse matrix of a product and what it is multiplied by; None where the op is none such."""
    at = _PRODUCTS.get(name)
    if at is None or len(args) < at + 2 or any(isinstance(factor, (int, float)) for factor in args[at : at + 2]):
        return None
    matrix, other = args[at : at + 2]
    if sparse_parts.is_sparse(matrix):
        return matrix, other
    # x·A is (Aᵀ·xᵀ)ᵀ.
    return (other.t(), matrix.t()) if sparse_parts.is_sparse(other) and other.dim() == 2 and matrix.dim() == 2 else None


def described(matrix: Any, other: Any) -> list[Any]:
    """A product as the engine takes it: of each sparse factor its values, their columns, where rows begin; of another
    one itself."""
    arrays = []
    for factor in (matrix, other):
        if not sparse_parts.is_sparse(factor):
            arrays.append(operands.describe(factor))
            continue
        *places, values = (operands.describe(part) for part in sparse_parts.parts(factor))
        count, rows = values[3][:1], factor.shape[0]
        # A GPU's libraries are given the matrix by rows, also where the script has it by pairs of row and column.
        arrays += [values, (*places[-1][:3], count, places[-1][4]), (*places[0][:3], (rows + 1,), places[0][4])]
    return arrays
