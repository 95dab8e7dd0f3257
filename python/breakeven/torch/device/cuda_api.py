"""`torch.cuda` of a machine that has the GPU named by `--pretend-gpu`: its properties, memory, streams and waits."""

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
import types
import uuid

from ... import _native
from ...events import recorder
from .. import saved_files
from ..describe import contexts
from ..gpu_form import foreach
from ..no_values import exchange
from ..session import GPU, RANK, RANKS, session
from ..sides import side
from ..steps import sampler
from . import autocast, gpu_memory, graphs, processes, profiler, tensor_types
from .streams import Event, On, Stream, wait

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


#: Threads that a multiprocessor holds, by compute capability, where not 2048: CUDA C++ Programming Guide, "Compute
#: Capabilities".
_THREADS = {"7.5": 1024, "8.6": 1536, "8.7": 1536, "8.9": 1536, "12.0": 1536, "12.1": 1536}


#: Of pools of memory.
_numbers = itertools.count(1)


class _Properties(types.SimpleNamespace):
    """What `torch.cuda.get_device_properties` gives; what the catalogue does not know is the same for all GPUs."""

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory >> 20}MB, multi_processor_count={self.multi_processor_count}, "
            f"uuid={self.uuid}, L2_cache_size={self.L2_cache_size >> 20}MB)"
        )


def install(torch: Any, gpu: Any) -> None:
    """Replace what asks the driver."""
    cuda = torch.cuda
    major, minor = (int(part) for part in gpu["capability"].split("."))
    properties = _Properties(
        name=gpu["name"], major=major, minor=minor, total_memory=gpu["memory"],
        multi_processor_count=gpu["units"], is_integrated=0, is_multi_gpu_board=0, warp_size=32,
        max_threads_per_multi_processor=_THREADS.get(gpu["capability"], 2048), max_threads_per_block=1024,
        regs_per_multiprocessor=65536, gcnArchName="",
        shared_memory_per_block=48 << 10, L2_cache_size=gpu.get("cache", 0), uuid=uuid.UUID(int=0),
        pci_bus_id=0, pci_device_id=0, pci_domain_id=0,
    )  # fmt: skip
    nothing = lambda *_, **__: None  # noqa: E731
    live: Any = lambda *_, **__: _bytes()[0] - graphs.idle()  # noqa: E731
    reserved: Any = lambda *_, **__: _bytes()[0]  # noqa: E731
    peak: Any = lambda *_, **__: _bytes()[1]  # noqa: E731
    default = Stream(_number=0)
    _generators(torch)
    drawn = torch.Generator("cuda")
    answers = {
        "is_available": processes.is_available,
        "device_count": lambda: RANKS,
        "current_device": lambda: RANK,
        "is_initialized": processes.has_begun,
        "_is_in_bad_fork": lambda: processes.state.lost,
        "init": nothing,
        "_lazy_init": nothing,
        "_lazy_call": lambda call, **_: None,
        "get_device_name": lambda *_: gpu["name"],
        "get_device_properties": lambda *_: properties,
        "get_device_capability": lambda *_: (major, minor),
        "get_arch_list": lambda: [f"sm_{major}{minor}"],
        # A tensor of it can be made on any GPU.
        "is_bf16_supported": lambda including_emulation=True: bool(including_emulation) or major >= 8,
        "is_tf32_supported": lambda: major >= 8,
        "can_device_access_peer": lambda *_: False,
        "set_device": _set_device,
        "_exchange_device": lambda _: RANK,
        "_maybe_exchange_device": lambda _: RANK,
        "empty_cache": nothing,
        "ipc_collect": nothing,
        "manual_seed": lambda seed: drawn.manual_seed(int(seed)) and None,
        "manual_seed_all": lambda seed: drawn.manual_seed(int(seed)) and None,
        "seed": lambda: drawn.seed() and None,
        "seed_all": lambda: drawn.seed() and None,
        "initial_seed": lambda: drawn.initial_seed(),
        "get_rng_state": lambda *_: drawn.get_state(),
        "get_rng_state_all": lambda: [drawn.get_state()] * RANKS,
        "set_rng_state": lambda new_state, *_, **__: _go_on_drawing(drawn, new_state),
        "set_rng_state_all": lambda new_states: _go_on_drawing(drawn, new_states[RANK]),
        "memory_allocated": live,
        "max_memory_allocated": peak,
        "memory_reserved": reserved,
        "max_memory_reserved": peak,
        "reset_peak_memory_stats": lambda *_, **__: _bytes(True) and None,
        "reset_max_memory_allocated": lambda *_, **__: _bytes(True) and None,
        "mem_get_info": lambda *_, **__: (gpu["usable"] - reserved(), gpu["memory"]),
        "reset_accumulated_memory_stats": lambda *_, **__: gpu_memory.forget_refusals(),
        "device_memory_used": reserved,
        "current_blas_handle": lambda: 1,
        "current_solver_handle": lambda: 1,
        "memory_stats": lambda *_, **__: _memory_stats(live(), peak(), reserved()),
        "synchronize": lambda *_: wait("torch.cuda.synchronize", None),
        "Stream": Stream,
        "Event": Event,
        "current_stream": lambda *_: Stream(_number=session.stream or 0),
        "default_stream": lambda *_: default,
        "stream": On,
        "StreamContext": On,
        "ExternalStream": lambda pointer, *_, **__: Stream(_number=pointer),
        "_sleep": nothing,
        "set_stream": lambda stream: contexts.use_stream(stream.stream_id or None),
    }
    for name, answer in answers.items():
        setattr(cuda, name, _own(answer, name))
    for name in processes.BEGINNING:
        setattr(cuda, name, processes.begins(getattr(cuda, name)))
    # Checkpoints keep the state of its generator then.
    cuda._initialized = True
    torch.Stream, torch.Event = Stream, Event
    # There is one GPU to scatter to.
    parallel = torch.nn.parallel
    parallel.comm.scatter = lambda tensor, *_, **__: (tensor.to("cuda"),)
    parallel.scatter_gather.Scatter = types.SimpleNamespace(apply=lambda _, __, ___, tensor: (tensor.to("cuda"),))
    cuda.memory._record_memory_history = nothing
    # PyTorch's table of them, `memory_summary`, asks there.
    cuda.memory.memory_stats = cuda.memory_stats
    cuda.default_generators = (drawn,)
    for module in (cuda.memory, cuda.random):
        for name in vars(module).keys() & answers.keys():
            setattr(module, name, getattr(cuda, name))
    _counters(cuda)
    _shares(torch._C, gpu["memory"], gpu["usable"])
    _plans(torch)
    _pools(cuda)
    if hasattr(torch, "accelerator"):
        _accelerator(torch)
    _precision(torch)
    _half_layers(torch)
    foreach.sort_by_device(torch)
    _checkpoints()
    exchange.by_gloo()
    # Its weights in one piece are cuDNN's wish.
    torch.backends.cudnn.is_acceptable = lambda _: False
    tensor_types.install(torch)
    saved_files.install(torch)
    graphs.install(torch)
    profiler.install(torch)
    recorder.unseen("pretend-gpu", f"{gpu['name']} was imitated: times and values that the script saw are this CPU's")


def _set_device(device: Any) -> None:
    """There is one for each rank."""
    side.named(device)


def _bytes(reset: bool = False) -> tuple[int, int]:
    """Live and peak bytes on the device; `reset` begins the peak anew."""
    sampler.memory_asked()
    return _native.storage_bytes(reset)


def _memory_stats(live: int, peak: int, reserved: int) -> dict[str, int]:
    """Numbers of the allocator: one that keeps no memory for later but graphs', and of whose other figures nothing
    is known. It tries again before it gives up."""
    kinds = {"allocated_bytes": live, "active_bytes": live, "requested_bytes": live, "reserved_bytes": reserved}
    known = {
        f"{kind}.all.{name}": value for kind, now in kinds.items() for name, value in (("current", now), ("peak", peak))
    }
    return collections.defaultdict(
        int, known, num_alloc_retries=gpu_memory.state.refusals, num_ooms=gpu_memory.state.refusals
    )


def _own(answer: Any, name: str) -> Any:
    """A function of its own for each name: `torch._dynamo` tells functions apart by identity."""
    if not isinstance(answer, types.FunctionType):
        return answer
    return types.FunctionType(answer.__code__, answer.__globals__, name, answer.__defaults__, answer.__closure__)


def _accelerator(torch: Any) -> None:
    """The same by the names that are those of any maker's GPUs."""
    cuda, accelerator, core = torch.cuda, torch.accelerator, torch._C
    accelerator.is_available = lambda: True
    accelerator.device_count = cuda.device_count
    accelerator.current_accelerator = core._get_accelerator = lambda *_, **__: torch.device("cuda")
    accelerator.get_memory_info = cuda.mem_get_info
    for name in ("index", "idx"):
        setattr(accelerator, f"current_device_{name}", cuda.current_device)
        setattr(accelerator, f"set_device_{name}", cuda.set_device)
    for name in ("synchronize", "current_stream", "set_stream", "empty_cache"):
        setattr(accelerator, name, getattr(cuda, name))
    for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "memory_stats"):
        setattr(accelerator, name, getattr(cuda, name))
    accelerator.reset_peak_memory_stats = cuda.reset_peak_memory_stats
    # With them a block of code has a device of its own.
    core._accelerator_exchangeDevice = core._accelerator_maybeExchangeDevice = cuda._exchange_device


def _counters(cuda: Any) -> None:
    """What the driver measures nobody does here."""
    for name in ("utilization", "memory_usage", "temperature", "power_draw", "clock_rate"):

        def unknown(*_: Any, name: str = name) -> int:
            recorder.unseen(
                "unknown-value", f"torch.cuda.{name} is not known of a GPU that is not there: the script went on with 0"
            )
            return 0

        setattr(cuda, name, unknown)


def _shares(core: Any, memory: int, usable: int) -> None:
    """How much of the GPU's memory (bytes) the process may have."""
    allowed = 1.0

    def allow(fraction: float, _: int) -> None:
        nonlocal allowed
        allowed = fraction
        _native.pretend(min(int(memory * fraction), usable))

    core._cuda_setMemoryFraction, core._cuda_getMemoryFraction = allow, lambda _: allowed


def _plans(torch: Any) -> None:
    """Of Fourier transforms none is kept; how many may be a script says."""
    most = 4096  # as of old

    def keep(_: int, size: int) -> None:
        nonlocal most
        most = size

    kept = vars(torch.backends.cuda.cuFFTPlanCache)
    kept["size"].getter, kept["max_size"].getter, kept["max_size"].setter = lambda _: 0, lambda _: most, keep
    torch._cufft_clear_plan_cache = lambda _: None


def _pools(cuda: Any) -> None:
    """Memory that a script takes from a pool of its own counts as any other."""

    class MemPool:
        def __init__(self, *_: Any, **__: Any) -> None:
            self.id = (0, next(_numbers))

        def use_count(self) -> int:
            return 1

        def snapshot(self) -> list[Any]:
            return []

    @contextlib.contextmanager
    def use_mem_pool(pool: Any, device: Any = None) -> Any:
        yield

    cuda.MemPool = cuda.memory.MemPool = MemPool
    cuda.use_mem_pool = cuda.memory.use_mem_pool = use_mem_pool


def _generators(torch: Any) -> None:
    """`torch.Generator(device="cuda")` draws on the CPU."""
    plain = torch.Generator

    class Known(type(plain)):  # type: ignore[misc]
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, plain)

    class Generator(plain, metaclass=Known):  # type: ignore[misc, valid-type]
        def __new__(cls, device: Any = "cpu") -> Any:
            return plain.__new__(cls, "cpu") if side.named(device) == GPU else plain(device)

        @property
        def device(self) -> Any:
            return torch.device(GPU)

    torch.Generator = Generator


#: Bytes of a GPU's own state (Philox): a seed and how much was drawn.
_PHILOX = 16


def _go_on_drawing(drawn: Any, state: Any) -> None:
    """From a state that was kept, or from one of a GPU's that is really there, whose numbers are a seed here."""
    if state.numel() == _PHILOX:
        drawn.manual_seed(int.from_bytes(bytes(state.tolist()), "little") % (1 << 63))
    else:
        drawn.set_state(state)


def _checkpoints() -> None:
    """What a checkpoint saves and computes again is compared without its device, which is asked for in the midst of
    an op the first time, and between two the second."""
    from torch.utils import checkpoint

    checks = getattr(checkpoint, "_allowed_determinism_checks_to_fns", None)
    if checks is not None:
        checks["default"] = lambda tensor: {"shape": tensor.shape, "dtype": tensor.dtype}


def _half_layers(torch: Any) -> None:
    """oneDNN has no recurrent layers in float16 on most CPUs, and raises; PyTorch's own do them step by step."""
    plain, core = torch._VF.lstm, torch._C

    def lstm(*args: Any) -> Any:
        half = args[0].dtype == torch.float16 or (
            torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") == torch.float16
        )
        if not (half and core._get_mkldnn_enabled()):
            return plain(*args)
        core._set_mkldnn_enabled(False)
        try:
            return plain(*args)
        finally:
            core._set_mkldnn_enabled(True)

    torch._VF.lstm = functools.wraps(plain)(lstm)


def _precision(torch: Any) -> None:
    """`autocast("cuda")` is the CPU's, in the precision that it would have on the GPU."""
    plain = torch.autocast.__init__

    def init(self: Any, device_type: str, dtype: Any = None, *args: Any, **kwargs: Any) -> None:
        if device_type == "cuda":
            autocast.install(torch)
            device_type, dtype = "cpu", dtype or torch.float16
        plain(self, device_type, dtype, *args, **kwargs)

    torch.autocast.__init__ = init
    enabled, precision = torch.is_autocast_enabled, torch.get_autocast_dtype
    torch.is_autocast_enabled = lambda device_type="cpu": enabled("cpu")
    torch.get_autocast_dtype = lambda device_type: precision("cpu" if device_type == "cuda" else device_type)
    torch.get_autocast_gpu_dtype = lambda: precision("cpu")
