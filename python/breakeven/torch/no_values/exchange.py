"""What ranks exchange on a GPU that is imitated, and while tensors have no values: then nothing is sent, and each goes
on as if it had been.

What is no tensor of the script's they send all the same: objects, the shapes that `DistributedDataParallel` compares,
and that they have come as far as a barrier.
"""

from __future__ import annotations

import functools
import inspect
import sys

from ..describe import storages
from ..session import session
from . import known_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_OBJECTS = (
    "all_gather_object", "gather_object", "broadcast_object_list", "scatter_object_list", "send_object_list",
    "recv_object_list",
)  # fmt: skip
#: What sends tensors that it is called with.
_SENDING = (
    "all_reduce", "broadcast", "reduce", "all_gather", "all_gather_into_tensor", "gather", "scatter", "reduce_scatter",
    "reduce_scatter_tensor", "all_to_all", "all_to_all_single", "send", "recv", "isend", "irecv",
)  # fmt: skip
_RANKS = "torch.distributed.distributed_c10d"
#: Its function that says which device's tensors a group sends objects as.
_OF_OBJECTS = "_get_object_coll_device"
#: Names of the groups that a script exchanges by NCCL, and by nothing else.
_nccl: set[str] = set()


def send_nothing(torch: Any) -> None:
    """Without values: let through what is no tensor of the script's."""
    session.torch = torch
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
    ranks: Any = sys.modules.get(_RANKS)
    if ranks is None:
        return
    for name in ("init_process_group", "new_group"):
        _put(ranks, name, _by_gloo(getattr(ranks, name), ranks))
    for name in _SENDING:
        _put(ranks, name, _sends(getattr(ranks, name), ranks))
    _put(ranks, "get_backend", _names(ranks.get_backend, ranks))
    # Objects are sent as tensors there.
    device = getattr(ranks, _OF_OBJECTS, None)
    if device is not None:  # of former years it has another name
        setattr(ranks, _OF_OBJECTS, lambda group=None: "cuda" if _is_by_nccl(group, ranks) else device(group))


def _by_gloo(plain: Any, ranks: Any) -> Any:
    signature = inspect.signature(plain)

    @functools.wraps(plain)
    def begin(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        backend = given.get("backend")
        # A group is by what all ranks are by where it does not say.
        alone = str(backend).lower() == "nccl" or (
            backend is None and ranks.is_initialized() and _is_by_nccl(None, ranks)
        )
        if "nccl" in str(backend or "nccl").lower():
            given["backend"] = "gloo"
            for name in ("device_id", "pg_options"):
                given.pop(name, None)
        group = plain(**given)
        named = getattr(group or ranks._get_default_group(), "group_name", None)  # a rank may be in no group
        if named is not None:
            (_nccl.add if alone else _nccl.discard)(named)
        return group

    return begin


def _is_by_nccl(group: Any, ranks: Any) -> bool:
    return getattr(group or ranks._get_default_group(), "group_name", None) in _nccl


def _names(plain: Any, ranks: Any) -> Any:
    """`get_backend`, which tells scripts what they asked for, and PyTorch, which may do otherwise then, what there
    is."""

    @functools.wraps(plain)
    def get_backend(group: Any = None) -> Any:
        name = plain(group)
        for_torch = sys._getframe(1).f_globals.get("__name__", "").startswith("torch.")
        return ranks.Backend("nccl") if not for_torch and _is_by_nccl(group, ranks) else name

    return get_backend


def _sends(plain: Any, ranks: Any) -> Any:
    """NCCL sends what is on a GPU."""

    @functools.wraps(plain)
    def send(*args: Any, **kwargs: Any) -> Any:
        group = kwargs.get("group") or next((one for one in args if isinstance(one, ranks.ProcessGroup)), None)
        if _nccl and any(map(_is_of_host, storages.flat((*args, *kwargs.values())))) and _is_by_nccl(group, ranks):
            raise RuntimeError("No backend type associated with device type cpu")
        return plain(*args, **kwargs)

    return send


def _is_of_host(tensor: Any) -> bool:
    """Whether a tensor is known to be on the host."""
    known = storages.known_storage(tensor)
    return known is not None and known.device == "cpu"


def _put(ranks: Any, name: str, stand_in: Any) -> None:
    """Replace a function wherever PyTorch has it by name."""
    plain = getattr(ranks, name)
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("torch.distributed") and vars(module).get(name) is plain:
            setattr(module, name, stand_in)


def _with_values(plain: Any) -> Any:
    @functools.wraps(plain)
    def run(*args: Any, **kwargs: Any) -> Any:
        return known_values.call(plain, *args, **kwargs)

    return run


def left(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What an op of `c10d` gives, which is done at once; what it writes to is not known from here on."""
    if "barrier" in func.__name__:
        return known_values.call(func, known_values.call(session.torch.zeros, 1), *args[1:], **kwargs)
    tensors = list(storages.flat((*args, *kwargs.values())))
    sent = func.__name__.partition(".")[0] == "send"
    for tensor in [] if sent else tensors:
        known_values.forget(tensor)
    returned = func._schema.returns
    if not returned:
        return None
    done = session.torch.futures.Future()
    done.set_result(list(storages.flat(args[0])))
    work = session.torch._C._distributed_c10d._create_work_from_future(done).boxed()
    return work if len(returned) == 1 else (args[0], work)
