"""Whether this machine's memory is about to run out, seen before it does: then the run goes on without values.

Where it cannot (a notebook, threads, processes that exchange tensors), it is written down while there is time. A script
that catches PyTorch's error gets it.
"""

from __future__ import annotations

import os
import sys
import threading

from .. import _native
from ..events import recorder
from ..process import caught, endings
from . import dispatch_mode
from .session import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    since = 0
    told = False
    left: int | None = None
    looked = 0.0


state = State()


#: An op that makes less than this is let through unasked, bytes.
_OFTEN = 64 << 20
#: What a process should leave to others; to go on without values it takes 270 MB of addresses itself (PyTorch 2.15 and
#: its compiler's modules, Python 3.11 and 3.13).
_SPARE = 384 << 20
#: For so long what was left of the memory is what is left of it, s.
_FRESH = 0.01
#: Bytes that an op makes, by what it is given.
_sizes: dict[Any, int] = {}


def about_to(func: Any, args: tuple[Any, ...], kwargs: Any) -> None:
    """An op is about to run: will what it makes fit?"""
    if state.told or (size := size_of(func, args, kwargs)) == 0:
        return
    if (left := _room()) is not None and size + _SPARE > left:
        if size > _most_given() and caught.would_be_caught("RuntimeError", "Exception"):
            return  # it is going to be refused, and the script knows what to do then
        _short(f"this machine has {left / 1e9:.1f} GB of memory left where a tensor of {size / 1e9:.1f} GB is made")


def size_of(func: Any, args: tuple[Any, ...], kwargs: Any) -> int:
    """Bytes of what an op is about to make in memory of this process (an imitated GPU's is), where they are many;
    else 0."""
    if _most(args) < _OFTEN or _elsewhere(args, kwargs):
        return 0
    try:
        size = _made_by(func, args, kwargs)
    except Exception as error:  # a layout without shape or strides
        if _native.of_script(error):
            raise
        return 0
    return size if size >= _OFTEN else 0


def _elsewhere(args: tuple[Any, ...], kwargs: Any) -> bool:
    """Whether what an op makes is in the memory of a real GPU, or in none (`device="meta"`, a `FakeTensorMode` of
    the script's)."""
    core = session.torch._C
    if core._get_dispatch_mode(core._TorchDispatchModeKey.FAKE) is not None:
        return True
    place = (kwargs or {}).get("device")
    if place is not None:
        return getattr(place, "type", None) in (*session.gpu_kinds, "meta")
    tensors = [value for value in _flat(args, kwargs) if isinstance(value, session.torch.Tensor)]
    on_gpu = session.gpu is not None and any(tensor.device.type in session.gpu_kinds for tensor in tensors)
    return on_gpu or any(tensor.is_meta for tensor in tensors)


def _most(args: tuple[Any, ...]) -> float:
    """No fewer bytes than an op makes of these, nearly always: cheap, and far too many for most."""
    most, tensor = 16.0, session.torch.Tensor
    for value in args:
        if isinstance(value, tensor):
            most *= value.numel() or 1
        elif isinstance(value, (int, float)):
            most *= value if value > 1 else 1
        elif isinstance(value, (list, tuple)):
            tensors = 0
            for part in value:
                if isinstance(part, tensor):
                    tensors += part.numel()
                elif isinstance(part, int) and part > 1:
                    most *= part
            most *= tensors or 1
    return most


def _made_by(func: Any, args: tuple[Any, ...], kwargs: Any) -> int:
    """Bytes of the storages that an op makes: PyTorch works out its shapes without computing it."""
    flat = _flat(args, kwargs)
    key = (func, *(_key(value) for value in flat))
    known = _sizes.get(key)
    if known is None:
        if len(_sizes) > 4096:
            _sizes.clear()
        known = _sizes[key] = _worked_out(func, args, kwargs)
    return known


#: Whose ops are asked for their shapes. Those of others may ask code of the script's or of a library, which is to run
#: when the op does.
_OWN = ("aten", "prims", "_c10d_functional")


def _worked_out(func: Any, args: tuple[Any, ...], kwargs: Any) -> int:
    """The same of an op that has not been asked for it so far, or a guess."""
    try:
        if func.namespace in _OWN:
            return _shapes(func, args, kwargs)
    except Exception as error:  # an op whose shapes depend on values, or that is made for real tensors alone
        if _native.of_script(error):
            raise
    return sum(
        tensor.numel() * tensor.element_size()
        for tensor in _flat(args, kwargs)
        if isinstance(tensor, session.torch.Tensor)
    )


def _key(value: Any) -> Any:
    if isinstance(value, session.torch.Tensor):
        return value.shape, value.stride(), value.dtype, value.untyped_storage().nbytes()
    return repr(value)


def _flat(args: tuple[Any, ...], kwargs: Any) -> list[Any]:
    """Values, those in lists apart."""
    found: list[Any] = []
    for value in (*args, *(kwargs or {}).values()):
        found += value if isinstance(value, (list, tuple)) else [value]
    return found


def _shapes(func: Any, args: tuple[Any, ...], kwargs: Any) -> int:
    torch = sys.modules["torch"]
    given = {}

    def bare(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            strides = value.stride()
            empty = torch.empty_strided(value.shape, strides, dtype=value.dtype, device="meta")
            given[empty.untyped_storage()._cdata] = value.untyped_storage().nbytes()
            return empty
        if isinstance(value, (list, tuple)):
            return type(value)(map(bare, value))
        return torch.device("meta") if isinstance(value, torch.device) else value

    words = {name: bare(value) for name, value in (kwargs or {}).items()}
    if "device" not in words and any(argument.name == "device" for argument in func._schema.arguments):
        if not any(isinstance(value, torch.Tensor) for value in args):
            words["device"] = torch.device("meta")
    result = func(*bare(args), **words)
    made = {
        part.untyped_storage()._cdata: part.untyped_storage().nbytes()
        for part in _flat((result,), None)
        if isinstance(part, torch.Tensor)
    }
    # What was given and has grown is in memory of its own.
    return sum(size for key, size in made.items() if size > given.get(key, 0))


def made(size: int) -> None:
    """A storage of `size` bytes exists, though perhaps not yet its pages: will they fit?"""
    state.since += size
    if state.since < _OFTEN or state.told:
        return
    state.since = 0
    left = _room(0.0)
    if left is not None and size + _SPARE > left:
        _short(f"this machine had {left / 1e9:.1f} GB of memory left when a tensor of {size / 1e9:.1f} GB was made")


def refused() -> bool:
    """PyTorch got no memory; whether it is worth trying again."""
    if state.told or caught.would_be_caught("RuntimeError", "Exception"):
        return False
    return _short("PyTorch got no memory for a tensor")


def _short(why: str) -> bool:
    """Go on without values, or tell that memory is short; whether the former."""
    state.told = True
    if _may_lose_values():
        session.on_memory_short(sys.modules["torch"], why)
        return True
    recorder.unseen("memory-short", f"{why}: where the script does not fit, `--fake` records it without values")
    # The system may end this process without a word.
    _native.flush()
    return False


def _may_lose_values() -> bool:
    """Only a whole script does, where what it does stays its own affair."""
    distributed = sys.modules.get("torch.distributed")
    return bool(
        endings.state.watching
        and os.environ.get(dispatch_mode.FAKE) != "0"
        and threading.current_thread() is threading.main_thread()
        and not (distributed is not None and distributed.is_available() and distributed.is_initialized())
    )


def _room(fresh: float = _FRESH) -> int | None:
    """Bytes that this process may still take; None where the system does not say."""
    now = _native.clock_ns() * 1e-9
    if now - state.looked >= fresh:
        state.left, state.looked = _available(), now
    return state.left


def _available() -> int | None:
    rooms = [*_group_rooms(), *_limits()]
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            rooms.append(int(line.split()[1]) << 10)
    return min(rooms, default=None)


def _most_given() -> int:
    """What the system refuses to give more than at once."""
    totals = [line for line in _lines("/proc/meminfo") if line.startswith(("MemTotal:", "SwapTotal:"))]
    whole = sum(int(line.split()[1]) << 10 for line in totals)
    return min([whole, *_limits()])


def _limits() -> list[int]:
    """What `ulimit` leaves to this process."""
    rooms = []
    pages = [int(word) * os.sysconf("SC_PAGE_SIZE") for line in _lines("/proc/self/statm") for word in line.split()]
    for line in _lines("/proc/self/limits"):
        for name, used in (("Max address space", 0), ("Max data size", 5)):
            if line.startswith(name) and pages and (limit := line[len(name) :].split()[0]) != "unlimited":
                rooms.append(max(0, int(limit) - pages[used]))
    return rooms


def _group_rooms() -> list[int]:
    """What control groups leave to this process: its own and those above."""
    rooms = []
    for line in _lines("/proc/self/cgroup"):
        if line.startswith("0::"):
            folder = "/sys/fs/cgroup" + line[3:].strip().rstrip("/")
            while len(folder) >= len("/sys/fs/cgroup"):
                most, now = "".join(_lines(folder + "/memory.max")), "".join(_lines(folder + "/memory.current"))
                if most.strip().isdigit() and now.strip().isdigit():
                    stat = [line for line in _lines(folder + "/memory.stat") if line.startswith("inactive_file ")]
                    idle = sum(int(line.split()[1]) for line in stat)
                    rooms.append(max(0, int(most) - int(now) + idle))
                folder = folder.rpartition("/")[0]
    return rooms


def _lines(path: str) -> list[str]:
    try:
        with open(path, "rb", 0) as file:
            return file.read().decode("ascii", "replace").splitlines()
    except OSError:
        return []
