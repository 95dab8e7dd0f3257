"""Tensors of which nothing has told so far on which side they are."""

from __future__ import annotations

from ..describe import storages
from ..session import GPU, TEMPORARY
from ..steps import sampler
from . import side
from .side import where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


#: What a step that nobody watched has made on the GPU.
MADE_THERE = True, GPU, False, TEMPORARY


def is_there(tensor: Any) -> bool:
    return where(tensor) != "cpu"


def adrift(tensor: Any) -> Any:
    """What is known of a tensor that may be anywhere: PyTorch made it of nothing, for which no function was called (the
    memory in which `DistributedDataParallel` exchanges gradients), or it came of what nobody saw being made."""
    known = storages.known_storage(tensor)
    return known if known is not None and known.adrift else None


def settled(tensor: Any) -> bool:
    """Whether this might have been anywhere: now it is on the GPU."""
    known = adrift(tensor)
    if known is not None:
        known.device, known.adrift = GPU, False
    return known is not None


def settle(values: Any) -> None:
    """What a call is given that a GPU runs as one: where anything of that is on the GPU, so is what nothing has told
    of so far."""
    tensors = list(storages.flat(values))
    if any(map(is_there, tensors)):
        for tensor in loose(tensors):
            if not settled(tensor):
                storages.stored(tensor, like=MADE_THERE)


def loose(tensors: Iterable[Any]) -> list[Any]:
    """Those, but for single values, of which nothing has told where they are."""
    return [tensor for tensor in tensors if tensor.dim() > 0 and is_loose(tensor)]


def set_adrift(result: Any) -> None:
    for tensor in storages.flat(result):
        if (known := storages.known_storage(tensor)) is not None:
            known.adrift = True


def is_loose(tensor: Any) -> bool:
    """Whether nothing has told where a tensor is: it was made in a step that nobody watched, or came of what may be
    anywhere."""
    known = storages.known_storage(tensor)
    if known is not None:
        return known.adrift
    return sampler.state.unwatched and side.where_made(tensor) is None
