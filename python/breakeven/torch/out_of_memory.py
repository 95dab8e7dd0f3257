"""Losing values in the middle of a run, when memory runs out; from then on the script's files are left alone."""

from __future__ import annotations

import os
import sys

from ..events import recorder
from . import dispatch_mode, frames, imitate
from .describe import storages
from .device import placed_ops
from .fake import fake_mode
from .no_values import valueless
from .session import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    #: Where the script may write all the same: what is there it can make again.
    scratch: tuple[str, ...] = ()


state = State()


def begin_late(torch: Any, why: str) -> None:
    """The same in the middle of a run, of which the person is told."""

    fake_mode.begin(torch)
    valueless.state.lost_in_backward = session.phase == "backward" and session.imitated is None
    imitate.call(torch)
    dispatch_mode.watch_by(placed_ops.after, False, _keep)
    _give_back(torch)
    at = frames.script_line()
    recorder.unseen("fake", f"{why} ({at}): from there on tensors had no values, and what the script printed of them "
                   "means nothing")  # fmt: skip
    os.write(2, f"breakeven: {why} ({at}): it goes on without values, as under --fake\n".encode())
    _guard_files()


def _keep(*_: object) -> None:
    """An op is about to run. Within a backward pass each has the modes that were there when it began."""
    core = session.torch._C
    if core._get_dispatch_mode(core._TorchDispatchModeKey.FAKE) is None:
        session.torch.utils._python_dispatch._push_mode(valueless.state.mode)


def _give_back(torch: Any) -> None:
    """Parameters that only modules know become such without values, and their memory is free again."""
    import gc

    objects = gc.get_objects()
    if any(issubclass(type(thing), torch.optim.Optimizer) for thing in objects):
        return  # it would go on with those that it knows
    changed: dict[int, tuple[Any, Any]] = {}
    for module in objects:
        if not issubclass(type(module), torch.nn.Module) or "_parameters" not in vars(module):
            continue
        for name, parameter in module._parameters.items():
            if parameter is not None and parameter.grad is None and type(parameter) is torch.nn.Parameter:
                if id(parameter) not in changed:
                    empty = torch.empty_like(parameter, requires_grad=False)
                    fake = torch.nn.Parameter(empty, parameter.requires_grad)
                    fake.__dict__.update(parameter.__dict__)
                    storages.hand_over(parameter, fake)
                    changed[id(parameter)] = parameter, fake
                module._parameters[name] = changed[id(parameter)][1]


def _guard_files() -> None:
    """What the script would write, rename or remove from here on would be lost to what means nothing."""
    import tempfile

    serialization = session.torch.serialization
    serialization._open_zipfile_writer = serialization._legacy_save = _refuse_to_save
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    state.scratch = tuple(
        os.path.realpath(folder) + os.sep for folder in (tempfile.gettempdir(), cache, "/dev", "/proc")
    )
    sys.addaudithook(_refuse)


_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = frozenset(("os.remove", "os.rename", "os.rmdir", "os.truncate", "shutil.rmtree", "shutil.move"))


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open":
        if not (isinstance(arguments[2], int) and arguments[2] & _WRITING):
            return
    elif event not in _CHANGES:
        return
    path = arguments[0]
    if not isinstance(path, (str, bytes, os.PathLike)):
        return
    name = os.path.realpath(os.fsdecode(path))
    if not name.startswith(state.scratch) and ".pyc" not in os.path.basename(name):
        _refuse_to_save(path)


def _refuse_to_save(path: Any, *_: object) -> None:
    name = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else "what is saved"
    raise MemoryError(
        f"{name} is left as it is: this machine's memory ran out before, and tensors have no values since "
        "(breakeven run --fake=never runs the script as Python does)"
    )
