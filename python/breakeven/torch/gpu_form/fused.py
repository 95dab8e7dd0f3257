"""Calls that a GPU runs as a whole, forward and back, where a CPU takes them apart: told as the GPU runs them.

What runs within such a call, and later in the nodes of autograd that it has made, is left out; its time is that of the
whole. In place of what a CPU keeps of it for the gradient stands what a GPU does.
"""

from __future__ import annotations

import threading
import weakref

from ... import _native
from ...events import recorder
from .. import frames
from ..describe import contexts, likes, storages, tf32
from ..session import ACTIVATION, GPU, session
from ..sides import side
from ..sides.unplaced import settle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class State:
    """What changes while the script runs."""

    #: Those whose gradients are being computed.
    open: Call | None = None
    #: The gradients that are computed leave what they are made of for other ones.
    kept = False
    #: What calls autograd's engine.
    engine: Any = None


state = State()

#: Calls that are running, by thread.
_within: dict[int, Call] = {}
#: Those whose gradients may come, oldest first.
_called: list[Call] = []
_MOST = 4096


class Call:
    """One call: what is told of it, and the nodes of autograd that it made."""

    __slots__ = ("backward", "device", "first", "forward", "gap", "held", "keywords", "kept", "last", "made", "name",
    "ops", "own",
                 "passed", "precision", "requires_grad", "reserve", "thread", "there")  # fmt: skip

    #: As the op is known that it is told as.
    name: str
    keywords: list[tuple[str, str]]
    #: Of each op that is told, in their order: the arrays that go in, and those that come out.
    forward: list[tuple[list[Any], list[Any]]]
    backward: list[tuple[list[Any], list[Any]]]
    #: For what the script allows TF32, if it may be used here.
    precision: str
    #: Bytes that stay for the gradients beside the arrays of `held`; the storage that stands for them.
    kept: int
    reserve: int
    #: What else a GPU keeps for the gradients.
    held: list[Any]
    #: What the gradients are made of, while they are.
    passed: list[Any]
    #: What comes about on the way, and its element type: of no account but for what is left of it in the end.
    made: list[tuple[storages.Stored, Any]]
    #: Whether any of what goes in does.
    requires_grad: bool
    thread: int
    #: The imitated device, the real one.
    device: str | None
    there: str | None
    #: Numbers of autograd's nodes.
    first: int
    last: int
    #: Ops that ran, their time, and that before the first.
    ops: int
    own: int
    gap: int

    def __init__(self, name: str, *given: Any) -> None:
        """A call that begins, of these tensors."""
        self.name, self.thread = name, threading.get_ident()
        self.kept = self.reserve = self.ops = self.own = self.gap = 0
        self.keywords, self.held, self.made, self.passed = [], [], [], []
        self.there, self.device = storages.on_gpu(given[0]), _device(given[0])
        self.requires_grad = any(one.requires_grad for one in given)


class _Graph:
    """What a graph of autograd holds as long as there is one."""

    __slots__ = ("__weakref__",)


def install(torch: Any) -> None:
    """Learn what calls autograd's engine."""
    from inspect import unwrap

    session.torch, session.part_of_whole = torch, takes
    state.engine = unwrap(torch.autograd.graph._engine_run_backward).__code__


def stand_in(holder: Any, name: str, begin: Any, end: Any) -> None:
    """Watch calls of a function of PyTorch's: `begin(args, kwargs)` describes one, or not, `end(call, result)` what
    came."""
    from torch.jit import _builtins

    def enter(_: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        if running() or not _native.recording():
            return None
        with session.torch._C.DisableTorchFunction():  # no mode of the script's is asked
            if session.imitated is not None:
                settle((*args, *(kwargs or {}).values()))
            call = begin(args, kwargs or {})
        if call is not None:
            call.first = session.torch._C._autograd._get_sequence_nr()
            _within[call.thread] = call
        return call

    def leave(call: Any, _: tuple[Any, ...], result: Any, __: Any = None) -> None:
        if call is not None:
            _within.pop(call.thread, None)
            with session.torch._C.DisableTorchFunction():
                _left(call, result, end)

    plain = getattr(holder, name)
    watched = _native.Named(plain, name, enter, leave, of_steps=True, keywords=True)
    for key in ("__module__", "__name__", "__qualname__", "__doc__"):
        if hasattr(plain, key):
            watched.__dict__[key] = getattr(plain, key)
    # What is compiled by its source calls the function all the same.
    if (operator := _builtins._find_builtin(plain)) is not None:
        _builtins._register_builtin(watched, operator)
    setattr(holder, name, watched)


def _device(tensor: Any) -> str | None:
    if session.device is None:
        return None
    return side.where(tensor)


def precision(tensor: Any) -> Any:
    """The type that a GPU computes in where the script lets it choose; None where it does not."""
    kind = tensor.device.type if session.gpu is not None else "cpu"
    on = session.torch.is_autocast_enabled(kind) and tensor.dtype in (
        session.torch.float32,
        session.torch.float16,
        session.torch.bfloat16,
    )
    return session.torch.get_autocast_dtype(kind) if on else None


def _left(call: Call, result: Any, end: Any) -> None:
    if not call.ops:
        return
    if result is None:
        if session.phase == "backward":
            # Checkpointing stops what it computes again where that is all there; a GPU's call is a whole, and its
            # result is what was made last.
            _count(call, {id(storage) for storage, _ in call.made[-1:]})
            _tell(call, call.forward)
        return
    call.last = session.torch._C._autograd._get_sequence_nr()
    results = list(storages.flat(result))
    _count(call, {id(storages.known_storage(made)) for made in results})
    with contexts.on_device(call.device or GPU):
        end(call, *results)
    _tell(call, call.forward)
    nodes = [made.grad_fn for made in results if made.grad_fn is not None]
    if call.last > call.first and nodes:
        _keep(call, nodes)
    else:
        call.held.clear()


def _keep(call: Call, nodes: list[Any]) -> None:
    """Gradients may come, of any of the results: what they need stays until they have, or the graph goes."""
    del _called[: max(0, len(_called) - _MOST)]
    _called.append(call)
    # A script may keep what is needed in its own way, as checkpointing does, which makes it anew.
    hooks = getattr(session.torch._C._autograd, "_top_saved_tensors_default_hooks", None)
    if hooks is not None and hooks(False) is not None:
        call.held.clear()
        call.kept = 0
    call.reserve = _native.storage_new(call.kept, ACTIVATION, call.device == "cpu", True)
    graph = _Graph()
    weakref.finalize(graph, _gone, call).atexit = False
    for node in nodes:
        node.metadata[__name__] = graph


def _gone(call: Call) -> None:
    _free(call)
    if call in _called:
        _called.remove(call)


def _free(call: Call) -> None:
    call.held.clear()
    if call.reserve:
        _native.storage_freed(call.reserve)
        call.reserve = 0


def _tell(call: Call, ops: list[tuple[list[Any], list[Any]]]) -> None:
    """Those ops have run."""
    with contexts.on_device(call.device or GPU):
        context = contexts.context({"input": call}, call.there)
    shorten = tf32.shortened if tf32.in_tf32(call.precision) else list
    name = call.name if ops is call.forward else f"{call.name}_backward"
    each, rest = divmod(call.own, len(ops))
    gap = call.gap
    for given, made in ops:
        recorder.op(name, shorten(given), shorten(made), call.keywords, context, each + rest, gap)
        rest = gap = 0
    call.ops = call.own = call.gap = 0


def takes(result: Any, own: int, gap: int) -> bool:
    """Whether an op that has just run is part of a whole."""
    if not (_within or _called):
        return False
    call = _within.get(threading.get_ident())
    if call is not None:
        _add(call, result, own, gap)
        return True
    if session.phase != "backward":
        return False
    return _takes_gradient(result, own, gap)


def running() -> bool:
    """Whether a call that is told as a whole runs in this thread."""
    return threading.get_ident() in _within


def hiding(function: Any, *args: Any) -> Any:
    """What `function` gives, which is part of the whole that runs but for what it does after it has called `show`."""
    thread = threading.get_ident()
    call = _within[thread]
    try:
        return function(*args)
    finally:
        _within[thread] = call


def show() -> None:
    """What is done from here on is no part of the whole that runs in this thread."""
    del _within[threading.get_ident()]


def hides() -> bool:
    """Whether an op that is about to run is part of a whole."""
    if running():
        return True
    return session.phase == "backward" and bool(_called) and _of_gradient(_number()) is not None and _by_engine()


def _add(call: Call, result: Any, own: int, gap: int) -> None:
    if call.ops == 0:
        call.gap = gap
    else:
        own += gap
    call.ops += 1
    call.own += own
    with contexts.on_device(call.device or GPU):
        for tensor in storages.flat(result):
            if storages.known_storage(tensor) is None:
                role = storages.role_of(tensor, True, True)
                storage = storages.live(tensor.untyped_storage(), role, True, None, False)
                call.made.append((storage, tensor.dtype))


def _count(call: Call, results: set[int] | None = None) -> None:
    """What is left of what came about, or of that the storages of the results, takes memory of a GPU, too."""
    for storage, dtype in call.made:
        if storage() is not None and (results is None or id(storage) in results):
            _native.storage_resized(storage.id, storage.bytes)
            likes.made((storage.bytes, dtype), storage, True, False)
    call.made.clear()


def _number() -> int:
    """Of autograd's node that runs; -1 where none does."""
    node = session.torch._C._current_autograd_node()
    return int(node._sequence_nr()) if node is not None else -1


def _of_gradient(number: int) -> Call | None:
    """The call that made the node of this number."""
    if state.open is not None and state.open.first <= number < state.open.last:
        return state.open
    thread = threading.get_ident()
    return next((c for c in reversed(_called) if c.first <= number < c.last and _of(c, thread)), None)


def _takes_gradient(result: Any, own: int, gap: int) -> bool:
    number = _number()
    call = _of_gradient(number)
    if call is None:
        # What adds a gradient to the others of its parameter comes in between.
        if state.open is not None and 0 < number < 1 << 62:
            flush()
        return False
    if not _by_engine():
        return False
    if call is not state.open:
        flush()
        state.open = call
    _add(call, result, own, gap)
    return True


def passes(*tensors: Any) -> None:
    """These stay until the gradients of the call are made whose node runs."""
    call = _of_gradient(_number())
    if call is not None:
        call.passed.extend(tensor.untyped_storage() for tensor in tensors)


def _of(call: Call, thread: int) -> bool:
    """A real GPU's gradients are computed in a thread of its own."""
    return call.thread == thread or call.there is not None


def _by_engine() -> bool:
    """Whether autograd computes, and no hook of the script's."""
    frame = frames.caller()
    return frame.f_code is state.engine or frame.f_globals.get("__name__", "").startswith("breakeven.")


def flush() -> None:
    """Tell the gradients that have been computed."""
    call, state.open = state.open, None
    if call is None or not call.ops:
        return
    _count(call)
    call.passed.clear()
    _tell(call, call.backward)
    if not state.kept:
        _free(call)


def backward_begins(args: tuple[Any, ...]) -> None:
    """Autograd's engine is called: it may be told to keep what it needs."""
    state.kept = bool(args[2]) if len(args) > 2 else False
