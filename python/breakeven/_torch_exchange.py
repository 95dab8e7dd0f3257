"""What ranks exchange on a GPU that is imitated, and while tensors have no values: then nothing is sent, and each goes on
as if it had been.

What is no tensor of the script's they send all the same: objects, the shapes that `DistributedDataParallel` compares,
and that they have come as far as a barrier.
"""

from __future__ import annotations

import functools
import inspect
import sys

from . import _torch_ops, _torch_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OBJECTS = (
    "all_gather_object", "gather_object", "broadcast_object_list", "scatter_object_list", "send_object_list", "recv_object_list",
)  # fmt: skip
_RANKS = "torch.distributed.distributed_c10d"
_torch: Any = None


def send_nothing(torch: Any) -> None:
    """Without values: let through what is no tensor of the script's."""
    global _torch
    _torch = torch
    ranks = sys.modules.get(_RANKS)
    if ranks is None:  # built without
        return
    # In which order gradients came they agree on in memory; their buckets stay those of the first step.
    torch._C._distributed_c10d.Reducer._rebuild_buckets = lambda _: False
    public: Any = sys.modules["torch.distributed"]
    public._verify_params_across_processes = _with_values(public._verify_params_across_processes)
    for name in _OBJECTS:
        if hasattr(ranks, name):
            _put(ranks, name, _with_values(getattr(ranks, name)))


def by_gloo() -> None:
    """Ranks that exchange tensors by NCCL do so by Gloo, which needs no GPU."""
    ranks = sys.modules.get(_RANKS)
    if ranks is None:
        return
    for name in ("init_process_group", "new_group"):
        _put(ranks, name, _by_gloo(getattr(ranks, name)))


def _by_gloo(plain: Any) -> Any:
    signature = inspect.signature(plain)

    @functools.wraps(plain)
    def begin(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        if "nccl" in str(given.get("backend") or "nccl"):
            given["backend"] = "gloo"
            for name in ("device_id", "pg_options"):
                given.pop(name, None)
        return plain(**given)

    return begin


def _put(ranks: Any, name: str, stand_in: Any) -> None:
    """Replace a function wherever PyTorch has it by name."""
    plain = getattr(ranks, name)
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("torch.distributed") and vars(module).get(name) is plain:
            setattr(module, name, stand_in)


def _with_values(plain: Any) -> Any:
    @functools.wraps(plain)
    def run(*args: Any, **kwargs: Any) -> Any:
        return _torch_values.call(plain, *args, **kwargs)

    return run


def left(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What an op of `c10d` gives, which is done at once; what it writes to is not known from here on."""
    if "barrier" in func.__name__:
        return _torch_values.call(func, _torch_values.call(_torch.zeros, 1), *args[1:], **kwargs)
    tensors = list(_torch_ops.flat((*args, *kwargs.values())))
    sent = func.__name__.partition(".")[0] == "send"
    for tensor in [] if sent else tensors:
        _torch_values.forget(tensor)
    returned = func._schema.returns
    if not returned:
        return None
    done = _torch.futures.Future()
    done.set_result(list(_torch_ops.flat(args[0])))
    work = _torch._C._distributed_c10d._create_work_from_future(done).boxed()
    return work if len(returned) == 1 else (args[0], work)
