"""The one device that there is: `cupy.cuda.Device`."""

from __future__ import annotations

from . import pools, streams
from .imagined import asked, capability

#: What every GPU of NVIDIA's says of itself since 2020, or what one says that is neither large nor small.
_LIMITS = {
    "AsyncEngineCount": 2, "CanMapHostMemory": 1, "ClockRate": 1_410_000, "ConcurrentKernels": 1,
    "CooperativeLaunch": 1,
    "GlobalMemoryBusWidth": 5120, "Integrated": 0, "ManagedMemory": 1, "MaxBlockDimX": 1024, "MaxBlockDimY": 1024,
    "MaxBlockDimZ": 64, "MaxGridDimX": 2**31 - 1, "MaxGridDimY": 65535, "MaxGridDimZ": 65535,
    "MaxRegistersPerBlock": 65536, "MaxSharedMemoryPerBlock": 49152, "MaxThreadsPerBlock": 1024,
    "MaxThreadsPerMultiProcessor": 2048, "MemoryClockRate": 1_215_000, "TotalConstantMemory": 65536,
    "UnifiedAddressing": 1, "WarpSize": 32,
}  # fmt: skip


class Device:
    """The one device that there is."""

    def __init__(self, device: int | Device | None = None) -> None:
        self.id: int = device.id if isinstance(device, Device) else int(device or 0)

    def use(self) -> Device:
        if self.id != 0:
            raise streams.CUDARuntimeError(101)
        return self

    def __enter__(self) -> Device:
        return self.use()

    def __exit__(self, *error: object) -> None:
        pass

    def synchronize(self) -> None:
        self.use()
        streams.mark("cupy.cuda.Device.synchronize", streams.Stream.null._tag)

    @property
    def compute_capability(self) -> str:
        self.use()
        asked()
        return "".join(map(str, capability()))

    @property
    def mem_info(self) -> tuple[int, int]:
        self.use()
        gpu = asked()
        return max(0, gpu.usable - pools.pool.total_bytes()), gpu.memory

    @property
    def attributes(self) -> dict[str, int]:
        self.use()
        major, minor = capability()
        return {
            "MultiProcessorCount": asked().units, "ComputeCapabilityMajor": major, "ComputeCapabilityMinor": minor,
            **_LIMITS
        }  # fmt: skip

    @property
    def pci_bus_id(self) -> str:
        self.use()
        return "0000:00:00.0"

    def __int__(self) -> int:
        return self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"


Device.__module__ = "cupy.cuda.device"
