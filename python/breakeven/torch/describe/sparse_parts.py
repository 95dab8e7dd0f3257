"""The arrays that a sparse or nested tensor is made of."""

from __future__ import annotations

from ..session import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The arrays that say where the values are, by the layout's name.
_PLACES = {
    "sparse_coo": ("_indices",),
    "sparse_csr": ("crow_indices", "col_indices"),
    "sparse_bsr": ("crow_indices", "col_indices"),
    "sparse_csc": ("ccol_indices", "row_indices"),
    "sparse_bsc": ("ccol_indices", "row_indices"),
}


def is_sparse(tensor: Any) -> bool:
    """Whether a tensor has no memory of its own, but arrays that have."""
    return _layout(tensor) in _PLACES


def _layout(tensor: Any) -> str:
    layout = tensor.layout
    return "" if layout is session.torch.strided else str(layout).removeprefix("torch.")


def parts(tensor: Any) -> list[Any]:
    """The arrays that a sparse tensor is made of, its values last, and the one of a nested tensor; a tensor that is
    neither is made of itself."""
    if tensor.layout is session.torch.strided:
        if not tensor.is_nested:
            return [tensor]
        with session.torch._C._DisableTorchDispatch():
            return [tensor.values()]
    layout = _layout(tensor)
    if layout not in _PLACES:
        return [tensor]
    # No ops of the script's.
    with session.torch._C._DisableTorchDispatch():
        values = tensor._values() if layout == "sparse_coo" else tensor.values()
        return [*(getattr(tensor, name)() for name in _PLACES[layout]), values]
