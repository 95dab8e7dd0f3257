"""The dispatch mode that sees each op, at the bottom of PyTorch's stack of modes."""

from __future__ import annotations

import os
import sys
import time

from .. import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    #: The dispatch mode, once there is one.
    mode: Any = None
    #: What an op takes longer on its way through C++ and Python to the mode and back, ns.
    way = 0


state = State()


#: Set by `breakeven run --pretend-gpu NAME`: the GPU's figures as JSON.
PRETEND = "BREAKEVEN_PRETEND_GPU"
#: Set by `breakeven run --fake`: 1, or 0 for never.
FAKE = "BREAKEVEN_FAKE"

#: What calls a compiled function.
_COMPILED = os.path.join("torch", "_dynamo", "eval_frame.py")
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


def watch_by(
    after: Any, timed: bool = True, before: Any = None, refused: Any = None, beside: int | None = None
) -> None:
    """Tell `after` of each op from now on; the others as `_native.Dispatch` takes them, `beside` what the way here
    and back takes."""
    from torch.utils._python_dispatch import TorchDispatchMode

    if state.mode is None:
        words = {"__module__": __name__, "supports_higher_order_operators": True}
        state.mode = type("Recorded", (TorchDispatchMode,), words)()
        type(state.mode).__torch_dispatch__ = _native.Dispatch(after)
        alone = 0 if _native.recording() else op_took(swept=False)  # as it runs where nothing records
        resume()
        state.way = 0 if _native.recording() else max(0, op_took() - alone)
    type(state.mode).__torch_dispatch__ = _native.Dispatch(
        after, timed, before, refused, state.way if beside is None else beside
    )


def op_took(swept: bool = True) -> int:
    """The least that a tiny op takes in a loop of such ops, ns of this thread. `swept`: what it takes where the
    recorder's work lies between one and the next, which leaves nothing of their way in the caches, as most do."""
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
    if state.mode is not None and not watching():
        sys.modules["torch"]._C._push_on_torch_dispatch_stack(state.mode)


def pause() -> bool:
    """See none until `resume`; False where the script has modes of its own above ours."""
    core = sys.modules["torch"]._C
    if _within_compiled():
        return False
    height = core._len_torch_dispatch_stack()
    if state.mode is None or height == 0 or core._get_dispatch_stack_at(height - 1) is not state.mode:
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
    return height > 0 and any(core._get_dispatch_stack_at(i) is state.mode for i in range(height))
