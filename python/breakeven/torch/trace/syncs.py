"""Ops after which the host waits to be told something by a GPU: how large a result is, or whether all went well."""

from __future__ import annotations

from ..describe import operands, storages
from ..no_gpu import placement
from ..session import READ, no_gpu, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


#: What is copied to the host then.
_COUNT = (7, 8, 0, (), 0)
#: Yes or no (`allclose` of TensorCompare.cpp).
ANSWER = (0, 1, 0, (), 0)


def _by_mask(given: dict[str, Any]) -> list[Any]:
    """How many places the masks name that index on the GPU."""
    # A mask on the host is made into places there.
    masks = [
        index for index in storages.flat(given["indices"]) if index.dtype in (session.torch.bool, session.torch.uint8)
    ]
    return [_COUNT] if any(map(_may_be_there, masks)) and not _fills_a_mask(given, len(masks)) else []


def _may_be_there(tensor: Any) -> bool:
    """Whether a GPU has a tensor, or would have it as far as a script without one tells."""
    if session.device is None and session.gpu is None:
        return not no_gpu.aware or placement.where(tensor) is not False
    known = storages.known_storage(tensor)
    return known is not None and known.device != "cpu"


def _repeated(given: dict[str, Any]) -> list[Any]:
    """How much it is in all, and the smallest (`repeat_interleave_common` of ATen's Repeat.h)."""
    repeats = given["repeats"]
    return [_COUNT, operands.one_of(repeats)] if given.get("output_size") is None and repeats.numel() else []


def _range(given: dict[str, Any]) -> list[Any]:
    """The smallest and the largest, where no range is given (`_histc_cuda_template` of ATen's SummaryOps.cu)."""
    values = given["self"]
    return [operands.one_of(values)] * 2 if given.get("min", 0) == given.get("max", 0) and values.numel() else []


def _counted(given: dict[str, Any]) -> list[Any]:
    """The smallest, which of unsigned numbers is not asked for, and the largest (`_bincount_cuda_template` there)."""
    values = given["self"]
    return [operands.one_of(values)] * (1 if values.dtype == session.torch.uint8 else 2) if values.numel() else []


def _eigenvalues(given: dict[str, Any]) -> list[Any]:
    """Whether all went well, and whether all are real (of real matrices: `linalg_eig_out_info` of ATen)."""
    return [ANSWER] * (1 if given["self"].is_complex() else 2)


def _unaligned(given: dict[str, Any]) -> list[Any]:
    """How long each sequence and each of its targets is (`ctc_loss` of ATen's LossCTC.cpp), which a GPU's copies
    tell by themselves, real or imitated."""
    if session.gpu is not None or session.device is not None:
        return []
    lengths = (given.get("input_lengths"), given.get("target_lengths"))
    return [
        (*operands.described(one), 0) for one in lengths if isinstance(one, session.torch.Tensor) and _may_be_there(one)
    ]


#: Ops after which the host waits to be told how large the result is, or whether all went well, and what it is told for
#: what they are given. Each was seen to on an H100 with PyTorch 2.11, behind a kernel that kept the GPU busy, but for
#: the last, which selects by a mask, and the eigenvalues.
TOLD: dict[str, Any] = {
    **dict.fromkeys(
        (
            f"aten.{name}"
            for name in (
                "nonzero masked_select _unique _unique2 unique_dim unique_consecutive _linalg_svd _linalg_eigh "
                "linalg_lstsq "
                "linalg_pinv linalg_matrix_exp _linalg_check_errors _to_sparse _to_sparse_csr _coalesce "
                "masked_scatter_backward"
            ).split()
        ),
        lambda _: [_COUNT],
    ),
    **dict.fromkeys((f"aten.{name}" for name in "index index_put_ index_put _index_put_impl_".split()), _by_mask),
    "aten.allclose": lambda _: [ANSWER],
    "aten.repeat_interleave": _repeated,
    "aten.histc": _range,
    "aten._ctc_loss": _unaligned,
    "aten.bincount": _counted,
    # It begins with whether all it is given is finite. `eigvals` becomes this where its ops are watched, but for `out`.
    "aten.linalg_eig": lambda given: [ANSWER, *_eigenvalues(given)],
    "aten.linalg_eigvals": _eigenvalues,
    "torchvision.nms": lambda _: [_COUNT],
}


def waits(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> bool:
    """Whether the host of a GPU waits for this op to be told something."""
    name, names = func._schema.name.replace("::", "."), (argument.name for argument in func._schema.arguments)
    tells = TOLD.get(name)
    return name == READ or (tells is not None and bool(tells({**dict(zip(names, args)), **(kwargs or {})})))


def _fills_a_mask(given: dict[str, Any], masks: int) -> bool:
    """Whether one value of the host's is written where one mask says, for which no places are looked up
    (`canDispatchToMaskedFill` of ATen's TensorAdvancedIndexing.cpp)."""
    values = given.get("values")
    if values is None or values.numel() != 1 or given.get("accumulate") or masks != 1:
        return False
    if sum(1 for _ in storages.flat(given["indices"])) != 1:
        return False
    if session.gpu is not None:
        return bool(values.device.type == "cpu")
    known = storages.known_storage(values)
    if known is None:
        return True
    if session.device is not None:
        return known.device == "cpu"
    return (known.aside and no_gpu.aware) or not (known.placed or known.reduced)
