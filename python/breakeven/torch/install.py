"""PyTorch: what is put in place when a script has imported it, and taken away again.

Ops are seen by a dispatch mode at the bottom of PyTorch's own stack of modes: forward, backward and optimizer pass
there, whoever called them. What never reaches the dispatcher (`tolist`, `print`, `.to(device)` to where a tensor is
already) is seen by stand-ins without a frame of their own.
"""

from __future__ import annotations

import atexit
import os
import sys

from .. import _native
from ..events import recorder
from ..process import caught, gpu_asked, gpu_checks, imports, looks, program
from . import dispatch_mode, frames, memory_left, patch, real_gpu
from .describe import operands
from .device import autocast, factories
from .session import session
from .steps import sampler
from .trace import op
from .watch import modules, reads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def install() -> None:
    """PyTorch has just been imported: watch it."""
    going_on = _native.recording()
    if going_on:
        _native.stop()
    try:
        import torch

        program.add_version("torch", str(torch.__version__))
        operands.prepare(torch)
        session.on_first_gpu, session.on_memory_short = real_gpu.begin, _memory_short
        reads.prepare(torch)
        frees = _native.time_frees()
        if os.environ.get(dispatch_mode.PRETEND) or os.environ.get(dispatch_mode.FAKE) == "1":
            from . import imitate

            imitate.install(torch)
            if not os.environ.get(dispatch_mode.PRETEND):
                reads.install_moves(torch)
        else:
            if not frees:
                text = "PyTorch's giving memory back could not be timed: it counts as Python code between ops"
                recorder.unseen("hook-off", text)
            dispatch_mode.watch_by(op.after, True, memory_left.about_to, memory_left.refused)
            reads.install(torch)
        if not os.environ.get(dispatch_mode.PRETEND):
            torch.cuda._lazy_init = _native.Named(torch.cuda._lazy_init, "torch.cuda.init", _nothing, _no_gpu)
            gpu_checks.watch(torch)
        reads.install_single(torch)
        autocast.watch(torch, patch.watch)
        if os.environ.get(dispatch_mode.PRETEND) or os.environ.get(dispatch_mode.FAKE) == "1":
            factories.know_methods(torch)
        modules.install(torch)
        new: Any = _native.constructor(torch.Tensor.__new__, torch.Tensor, torch._C._len_torch_dispatch_stack)
        torch.Tensor.__new__ = new
        atexit.register(sampler.recording_ends)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=sampler.forked)
        imports.after("torch.export", _exported)
        _eager(torch)
    finally:
        if going_on:
            _native.start()


def _memory_short(torch: Any, why: str) -> None:
    """Go on without values, by what is only imported then."""
    from . import out_of_memory

    out_of_memory.begin_late(torch, why)


def _eager(torch: Any) -> None:
    """`torch.compile` hands back the function itself while recording: what runs is what was written."""
    plain = torch.compile

    def noted(_: str) -> None:
        stance = getattr(torch.compiler, "set_stance", None)
        if stance is not None:
            stance("force_eager")
        recorder.unseen("torch-compile", "torch.compile was recorded as eager code: fused kernels would be fewer")

    stand_in = _native.Named(plain, "torch.compile", noted, _nothing)
    torch.compile = looks.like(stand_in, plain)


def _no_gpu(_: object, __: object, result: object, *___: object) -> None:
    """PyTorch has been asked for a GPU; None: in vain, which ends the script unless it expects that."""
    if result is None and not caught.would_be_caught("Exception", "RuntimeError", "AssertionError"):
        recorder.unseen("no-gpu", gpu_asked.without_gpu(frames.script_line()))


def _exported(_: str) -> None:
    """What `torch.export` goes through to see a module is no work of the script's."""
    export = sys.modules["torch.export"]

    def enter(_: str) -> int:
        return _native.enter("torch.export.export", True)

    def leave(token: int, *_: object) -> None:
        _native.leave(token, (), None)

    patch.watch(export, "export", export.export, enter, leave)


def _nothing(*_: object) -> None:
    pass
