"""What the recorder of a framework tells the native table: ops, copies, waits, and what it could not see.

    recorder.op("aten.mm", [x, w], [y], [], context, own, gap)
    recorder.to_device(x, context)
    recorder.unseen("torch-compile", "torch.compile was recorded as eager code")

An operand such as `x` is `(element type, bytes of one, layout, dims, storage)`: NumPy's number of the type, the
layout as `_native.tensor_event` has it, and the number that `_native.storage_new` gave its memory, or 0. A `context`
is the number that `_native.tensor_context` has for a phase, device, stream and module path. `own` and `gap` are ns
in the op and since the one before. What is recorded `apart` is counted each time, also where steps of a loop are
only counted by repetition.

A library's call that is one op, whatever it calls inside, is told in two halves, `_native.enter(name)` and
`_native.leave` with the keyword `op`, the work itself as the workload format has it (`{"routine": {"parts": [...]}}`),
or `facts`, numbers from which the engine's rule for that name makes it. Names are rows of
`crates/breakeven/callables/`. One that raises has `failed`.
"""

from __future__ import annotations

from .. import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Events that copy, by which the engine knows them.
TO_DEVICE, TO_HOST = "torch.Tensor.to", "torch.Tensor.to_host"
#: The event of a host that waits for the device.
WAIT = "torch.cuda.synchronize"

#: An op has run: its name, what it was given and gave, keywords that decide what is computed, context, own, gap, apart.
op = _native.tensor_event
#: Something ran that was not seen as ops: a reason that stays the same, one sentence, ns.
unseen = _native.unseen


def failed(token: int) -> None:
    """It has raised: nothing is recorded of it."""
    _native.leave(token, (), None)


def to_device(array: Any, context: int, apart: bool | None = None) -> None:
    """An array was copied from the host to the device, which has it now."""
    op(TO_DEVICE, [], [array], [], context, 0, 0, apart)


def to_host(array: Any, context: int, apart: bool | None = None) -> None:
    """An array was copied from the device to the host, which waited for it."""
    op(TO_HOST, [array], [], [], context, 0, 0, apart)


def wait(context: int, own: int) -> None:
    """The host waited for the device, ns."""
    op(WAIT, [], [], [], context, own, 0, True)
