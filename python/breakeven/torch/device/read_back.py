"""An imitated GPU's values read by the host."""

from __future__ import annotations

from ...events import recorder
from ...process import dlpack
from .. import frames
from ..describe import called_modules, contexts, operands, sparse_parts, storages
from ..session import reads, session
from ..sides import side
from ..sides.side import where
from ..steps import sampler
from . import graphs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def is_lent(value: Any) -> bool:
    """Whether it is another library's array on the device, or a capsule of what is there."""
    asked = getattr(value, "__dlpack_device__", None)
    if asked is None:
        return dlpack.is_of_gpu(value)
    return not isinstance(value, session.torch.Tensor) and asked()[0] == 2


def read(tensor: Any) -> None:
    # What a loader reads (the order of its samples, say) is the host's.
    likely = sampler.unseen() and session.phase != "data" and called_modules.where() != "cpu"
    if storages.known_storage(tensor) is None and side.where_made(tensor) == "cpu":
        return
    if where(tensor) != "cpu" or (storages.known_storage(tensor) is None and reads.get(frames.place(), likely)):
        if (refused := graphs.copy_refused(False, False)) is not None:
            raise refused
        reads[frames.place()] = True
        for part in sparse_parts.parts(tensor):
            array = (*operands.described(part), known.id if (known := storages.known_storage(part)) is not None else 0)
            contexts.crossed(recorder.TO_HOST, [array], [])
    elif storages.known_storage(tensor) is not None:
        reads.setdefault(frames.place(), False)  # of the host, as those to come that nobody saw being made
