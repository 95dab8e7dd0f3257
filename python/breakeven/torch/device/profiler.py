"""Profilers of a GPU that is imitated: they see what the CPU does, as they would without a GPU, and say nothing of
it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def install(torch: Any) -> None:
    """Ask no driver for the times of kernels, of which there are none."""
    profile = torch.autograd.profiler.profile
    plain = profile.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        if kwargs.get("use_device") == "cuda" or kwargs.pop("use_cuda", False):
            kwargs |= {"use_device": None, "use_cpu": True}
        plain(self, *args, **kwargs)

    profile.__init__ = init
    nothing = lambda *_, **__: None  # noqa: E731
    torch.cuda.profiler.start = torch.cuda.profiler.stop = nothing
    for name in ("range_push", "range_pop", "mark"):
        setattr(torch.cuda.nvtx, name, nothing)
