"""What a recording of PyTorch is in the middle of, in one object; and what a script without a GPU has on its device."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Session:
    """What a recording of PyTorch is in the middle of. Its fields are set where each begins and ends."""

    #: PyTorch itself.
    torch: Any
    #: `backward`, `optimizer` or `data`; `forward` comes from the module in charge.
    phase: str | None
    #: Paths of the modules being called, outermost first.
    path: list[str | None]
    #: Under `--pretend-gpu`: the GPU's figures; None where there are no values and no GPU either.
    imitated: Any
    #: The device that new storages are on there, and the stream that its ops go to.
    device: str | None
    stream: int | None
    #: What is to be done first where this process asks for that GPU: there is none for some that a script begins.
    on_asking: Any
    #: What ops have to do with a CUDA graph: `capture` while one is recorded, `node` while one is replayed.
    graph: str | None
    #: Kinds of devices that are GPUs.
    gpu_kinds: tuple[str, ...]
    #: A real GPU that tensors are on; None as long as there is none. What is to be done when the first one is.
    gpu: str | None
    on_first_gpu: Any
    #: The one that the op being recorded has a tensor on.
    there: str | None
    #: While an optimizer steps with one parameter after the other where a GPU takes all at once: whether an op is one
    #: of those, to be recorded with the others.
    together: Any
    #: Whether an op that has just run is part of a call that is recorded as one.
    part_of_whole: Any
    #: Under `--fake`: tensors take no memory here. What goes on so when memory runs out.
    valueless: bool
    on_memory_short: Any
    #: The op whose results are being described, and what it was given.
    gives: tuple[Any, dict[str, Any]] | None
    #: Calls of the script's or of PyTorch's Python that are reading a single value.
    asking: int
    #: An optimizer has read a value that a device would have.
    optimizer_asks: bool
    #: Classes of tensors that have memory.
    plain: tuple[type, ...]

    def __init__(self) -> None:
        """Nothing has begun."""
        self.torch = self.phase = self.imitated = self.device = self.stream = self.graph = self.gpu = self.there = None
        self.on_asking = self.on_first_gpu = self.on_memory_short = self.together = self.part_of_whole = None
        self.gives, self.path, self.plain, self.asking = None, [], (), 0
        self.valueless = self.optimizer_asks = False
        self.gpu_kinds = "cuda", "mps", "xpu"


session = Session()


def _told(name: str, otherwise: int) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 4 else otherwise


#: Which GPU is imitated, of how many: one, and where `torchrun` starts several ranks one for each.
RANK = _told("LOCAL_RANK", 0)
RANKS = max(_told("LOCAL_WORLD_SIZE", 1), RANK + 1)
GPU = f"cuda:{RANK}"
PARAMETER, GRADIENT, STATE, ACTIVATION, INPUT, TEMPORARY = range(6)
#: Ops that do what several others do, and what tells of those.
of_several: dict[str, Any] = {}
#: Ops that take memory which the host has just filled, of values of Python's or, a storage, of a file's.
FILLING = frozenset(("aten::lift_fresh", "aten::set_"))
#: One value is read on the host.
READ = "aten._local_scalar_dense"
#: Instructions that read values, and whether a device would have them: what is read there unwatched is like that.
reads: dict[tuple[Any, int], bool] = {}


#: What PyTorch raises where a tensor has no such thing: a handler of the script's signals, which may run meanwhile,
#: raises others.
REFUSED = RuntimeError, TypeError, ValueError, AttributeError, AssertionError


def fields() -> dict[str, Any]:
    """What is the case, by name, as `_native.Reads` asks it."""
    return vars(session)


class Placement:
    """What is known while the script runs."""

    torch: Any = None
    #: Whether the rule is in force: there is no GPU, real or imitated.
    tells = False
    #: Whether the script has put something on its device. Before that, and where it never does, nobody knows.
    aware = False
    #: Where the op being recorded ran: `True` on the host, `False` on the device, `None` unknown.
    on_host: bool | None = None
    #: Whether that op takes what the host has filled, and whether a GPU is sent it then.
    filling = sent = False
    #: Memory of another library's that a call that names the device has made a tensor of, and by which call: a copy
    #: that it makes of that is on the device.
    shared: tuple[int, Any] | None = None
    shares = False


no_gpu = Placement()


def makes_on_host(made: bool) -> bool:
    """Whether a storage that is new, which the op has `made` or the host filled, is on the host alone."""
    return no_gpu.tells and (not made or bool(no_gpu.on_host))


def makes_there(made: bool) -> bool:
    """Whether it was made on the device."""
    return no_gpu.tells and made and no_gpu.on_host is False
