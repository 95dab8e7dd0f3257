"""PyTorch: what is put in place when a script has imported it, and taken away again.

Ops are seen by a dispatch mode at the bottom of PyTorch's own stack of modes: forward, backward and optimizer pass
there, whoever called them. What never reaches the dispatcher (`tolist`, `print`, `.to(device)` to where a tensor is
already) is seen by stand-ins without a frame of their own.
"""

from __future__ import annotations

import atexit
import os
import sys
import time

from . import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Set by `breakeven run --pretend-gpu NAME`: the GPU's figures as JSON.
PRETEND = "BREAKEVEN_PRETEND_GPU"
#: Set by `breakeven run --fake`: 1, or 0 for never.
FAKE = "BREAKEVEN_FAKE"

#: What calls a compiled function.
_COMPILED = os.path.join("torch", "_dynamo", "eval_frame.py")

#: The dispatch mode, once there is one.
mode: Any = None
#: What an op takes longer on its way through C++ and Python to the mode and back, ns.
_way = 0
#: Of how many ops that is measured, and how often.
_OPS, _REPEATS = 50, 7
#: To compile this leaves as little of others in the caches as the recorder does between two ops.
SWEEPS = """
def f(a, b=1, *c, **d):
    with open(a) as e:
        for g in e:
            try:
                yield {h: i[1:] for h, i in zip(g, c) if h not in d and i > b * 2.0}
            except (KeyError, ValueError) as j:
                raise RuntimeError(f"{j}: {a!r}") from None
"""


def install() -> None:
    """PyTorch has just been imported: watch it."""
    going_on = _native.recording()
    if going_on:
        _native.stop()
    try:
        import torch

        from . import _gpu_checks, _imports, _process, _torch_autocast, _torch_fake, _torch_gpu, _torch_made, _torch_modules, _torch_ops, _torch_reads, _torch_room
        from . import _torch_steps

        _process.add_version("torch", str(torch.__version__))
        _torch_ops.prepare(torch)
        _torch_ops.on_first_gpu, _torch_ops.on_memory_short = _torch_gpu.begin, _torch_fake.begin_late
        _torch_reads.prepare(torch)
        frees = _native.time_frees()
        if os.environ.get(PRETEND) or os.environ.get(FAKE) == "1":
            from . import _torch_pretend

            _torch_pretend.install(torch)
            if not os.environ.get(PRETEND):
                _torch_reads.install_moves(torch)
        else:
            if not frees:
                text = "PyTorch's giving memory back could not be timed: it counts as Python code between ops"
                _native.unseen("hook-off", text)
            watch_by(_torch_ops.after, True, _torch_room.about_to, _torch_room.refused)
            _torch_reads.install(torch)
        if not os.environ.get(PRETEND):
            torch.cuda._lazy_init = _native.Named(torch.cuda._lazy_init, "torch.cuda.init", _nothing, _no_gpu)
            _gpu_checks.watch(torch)
        _torch_reads.install_single(torch)
        _torch_autocast.watch(torch, _torch_reads.watch)
        if os.environ.get(PRETEND) or os.environ.get(FAKE) == "1":
            _torch_made.know_methods(torch)
        _torch_modules.install(torch)
        new: Any = _native.constructor(torch.Tensor.__new__, torch.Tensor, torch._C._len_torch_dispatch_stack)
        torch.Tensor.__new__ = new
        atexit.register(_torch_steps.recording_ends)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_torch_steps.forked)
        _imports.after("torch.export", _exported)
        _eager(torch)
    finally:
        if going_on:
            _native.start()


def watch_by(after: Any, timed: bool = True, before: Any = None, refused: Any = None, beside: int | None = None) -> None:
    """Tell `after` of each op from now on; the others as `_native.Dispatch` takes them, `beside` what the way here and back takes."""
    global mode, _way
    from torch.utils._python_dispatch import TorchDispatchMode

    if mode is None:
        words = {"__module__": __name__, "supports_higher_order_operators": True}
        mode = type("Recorded", (TorchDispatchMode,), words)()
        type(mode).__torch_dispatch__ = _native.Dispatch(after)
        alone = 0 if _native.recording() else op_took(swept=False)  # as it runs where nothing records
        resume()
        _way = 0 if _native.recording() else max(0, op_took() - alone)
    type(mode).__torch_dispatch__ = _native.Dispatch(after, timed, before, refused, _way if beside is None else beside)


def op_took(swept: bool = True) -> int:
    """The least that a tiny op takes in a loop of such ops, ns of this thread. `swept`: what it takes where the recorder's
    work lies between one and the next, which leaves nothing of their way in the caches, as most do."""
    torch = sys.modules["torch"]
    number, took = torch.zeros(1), []
    for _ in range(_OPS if swept else _REPEATS):
        if swept:
            compile(SWEEPS, "", "exec")
        ops = 1 if swept else _OPS
        began = time.thread_time_ns()
        for _ in range(ops):
            torch.neg(number)
        took.append((time.thread_time_ns() - began) // ops)
    return sorted(took)[len(took) // 2 if swept else 0]


def resume() -> None:
    """See ops from now on in this thread, at the bottom of the script's own modes."""
    if mode is not None and not watching():
        sys.modules["torch"]._C._push_on_torch_dispatch_stack(mode)


def pause() -> bool:
    """See none until `resume`; False where the script has modes of its own above ours."""
    core = sys.modules["torch"]._C
    if _within_compiled():
        return False
    height = core._len_torch_dispatch_stack()
    if mode is None or height == 0 or core._get_dispatch_stack_at(height - 1) is not mode:
        return False
    core._pop_torch_dispatch_stack(None)
    return True


def settle(watched: bool) -> None:
    """Backward's engine leaves the modes as it found them, whatever has become of ours in it."""
    if watched:
        resume()
    elif watching():
        pause()


def _within_compiled() -> bool:
    """Whether the script is in a function that it compiles: on its way out PyTorch restores that there was a mode."""
    frame = sys._getframe(1)
    while frame is not None and not frame.f_code.co_filename.endswith(_COMPILED):
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None


def watching() -> bool:
    """Whether this thread's ops are seen."""
    core = sys.modules["torch"]._C
    height = core._len_torch_dispatch_stack()
    return height > 0 and any(core._get_dispatch_stack_at(i) is mode for i in range(height))


def _eager(torch: Any) -> None:
    """`torch.compile` hands back the function itself while recording: what runs is what was written."""
    plain = torch.compile

    def noted(_: str) -> None:
        stance = getattr(torch.compiler, "set_stance", None)
        if stance is not None:
            stance("force_eager")
        _native.unseen("torch-compile", "torch.compile was recorded as eager code: fused kernels would be fewer")

    stand_in = _native.Named(plain, "torch.compile", noted, _nothing)
    for key in ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__"):
        stand_in.__dict__[key] = getattr(plain, key)
    torch.compile = stand_in


def _no_gpu(_: object, __: object, result: object, *___: object) -> None:
    """PyTorch has been asked for a GPU; None: in vain, which ends the script unless it expects that."""
    from . import _caught

    if result is None and not _caught.would_be_caught("Exception", "RuntimeError", "AssertionError"):
        from . import _gpu_asked, _torch_fake

        _native.unseen("no-gpu", _gpu_asked.without_gpu(_torch_fake.place()))


def _exported(_: str) -> None:
    """What `torch.export` goes through to see a module is no work of the script's."""
    from . import _torch_reads

    export = sys.modules["torch.export"]

    def enter(_: str) -> int:
        return _native.enter("torch.export.export", True)

    def leave(token: int, *_: object) -> None:
        _native.leave(token, (), None)

    _torch_reads.watch(export, "export", export.export, enter, leave)


def _nothing(*_: object) -> None:
    pass
