"""Processes that a script begins where a GPU is imitated: CUDA does not live on in what is forked once it has begun,
and tensors that are handed on are the GPU's there, too, in memory that both processes share.
"""

from __future__ import annotations

import functools
import os
import sys
from multiprocessing.reduction import ForkingPickler

from ... import _native
from ...events import recorder
from .. import dispatch_mode, memory_left
from ..describe import storages
from ..session import GPU, INPUT, session
from ..sides import side
from . import function_mode, placed_ops

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    #: CUDA has begun in this process, or in one that it was forked from.
    begun = False
    #: It had in one that this process was forked from, and there is no GPU for this one.
    lost = False


state = State()


#: What CUDA begins with, of `torch.cuda`; so it does with the first tensor.
BEGINNING = (
    "init", "_lazy_init", "current_device", "set_device", "get_device_name", "get_device_properties",
    "get_device_capability", "is_bf16_supported", "mem_get_info", "synchronize", "current_stream", "default_stream",
    "set_stream", "current_blas_handle", "initial_seed", "get_rng_state", "get_rng_state_all",
    "reset_peak_memory_stats", "reset_max_memory_allocated",
)  # fmt: skip
_LOST = (
    "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start "
    "method"
)
#: Asks what a GPU would not be asked for.
_FAKE = "torch._subclasses.fake_tensor"
#: Storages that are other processes'.
_received: set[int] = set()


def install(torch: Any) -> None:
    state.begun = False  # whatever we have asked
    if session.imitated is not None:
        reductions = torch.multiprocessing.reductions
        plain = reductions.reduce_tensor
        reductions.reduce_tensor = _hands_on(torch, plain)
        reducers: dict[Any, Any] = vars(ForkingPickler)["_extra_reducers"]
        for kind, reduce in list(reducers.items()):
            if reduce is plain:
                ForkingPickler.register(kind, reductions.reduce_tensor)
    os.register_at_fork(before=_forks, after_in_child=_forked)


def has_begun() -> bool:
    return not state.lost and (state.begun or _native.storage_bytes()[1] > 0)


def begins(answer: Any) -> Any:
    """A function of `torch.cuda` that CUDA begins with."""

    @functools.wraps(answer)
    def asked(*args: Any, **kwargs: Any) -> Any:
        if state.lost:
            _refuse()
        state.begun = True
        return answer(*args, **kwargs)

    return asked


def is_available() -> bool:
    """CUDA is asked this, too, unless the environment says that the driver's library is."""
    if os.environ.get("PYTORCH_NVML_BASED_CUDA_CHECK") != "1" and sys._getframe(1).f_globals.get("__name__") != _FAKE:
        state.begun = True
    return True


def _forks() -> None:
    state.begun = state.begun or has_begun()


def _forked() -> None:
    state.lost = state.begun and session.imitated is not None
    if session.imitated is None or (state.lost and session.valueless):
        _leave()
        if state.lost:
            recorder.unseen("fake", "a process that was forked after CUDA had begun has its parent's tensors on the "
                                   "host: "
                           "without --fake it gets an error")  # fmt: skip
    elif state.lost:
        session.on_asking = _refuse
        dispatch_mode.watch_by(placed_ops.after, True, _before, memory_left.refused)


def _before(func: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """An op is about to run in a process that has lost the GPU."""
    if all(side.where(one) == "cpu" for one in storages.flat((*args, *(kwargs or {}).values()))):
        return memory_left.about_to(func, args, kwargs)
    return getattr(session.torch, "AcceleratorError", RuntimeError)("CUDA error: initialization error")


def _hands_on(torch: Any, plain: Any) -> Any:
    """What another process is told of a tensor, which by itself is the host's."""

    @functools.wraps(plain)
    def reduce_tensor(tensor: Any) -> Any:
        rebuild, about = plain(tensor)
        known = storages.known_storage(tensor)
        of_host = known is None or known.device in (None, "cpu")
        if known is None or of_host or rebuild is not torch.multiprocessing.reductions.rebuild_tensor:
            return rebuild, about
        if known.id in _received:
            raise RuntimeError(
                "Attempted to send CUDA tensor received from another process; this is not currently supported. "
                "Consider cloning before sending."
            )
        return receive, about

    return reduce_tensor


def receive(kind: Any, storage: Any, metadata: Any) -> Any:
    """A tensor of the GPU's that another process has made, whose memory it is."""
    import torch

    if session.imitated is not None:
        torch.cuda._lazy_init()
        shared = storage._untyped_storage
        if shared._cdata not in storages.alive:
            known = storages.live(shared, INPUT, True, GPU, counted=False)
            _received.add(known.id)
    return torch.multiprocessing.reductions.rebuild_tensor(kind, storage, metadata)


def loads() -> None:
    """This process loads data, and what it makes are real tensors in its own memory."""
    if state.lost or session.valueless:
        _leave()
    else:
        session.on_asking = _note_loader


def _leave() -> None:
    function_mode.leave()
    if session.imitated is not None:
        session.torch.cuda._lazy_init = _refuse


def _refuse() -> None:
    if not state.lost:
        _note_loader()
    raise RuntimeError(_LOST)


def _note_loader() -> None:
    text = "a DataLoader's process asked for the GPU, which is not imitated there: its tensors were the host's"
    recorder.unseen("loader-process", text)
