"""Which part of a training step runs: modules by their path, backward, optimizer, loading of data.

None of it is visible to the script: no hook of a module is registered, and the stand-ins have no frame of their own.
"""

from __future__ import annotations

import gc
import itertools
import threading
import weakref
from types import FunctionType

from . import _endings, _native, _torch_apart, _torch_attention, _torch_foreach, _torch_ops, _torch_recurrent, _torch_steps
from . import _torch_unwatched, _torch_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

#: Paths of all modules below each outermost one.
_names: weakref.WeakKeyDictionary[Any, dict[int, str]] = weakref.WeakKeyDictionary()
#: Modules whose parameters are known as such.
_met: weakref.WeakSet[Any] = weakref.WeakSet()
#: What calls a module, and knows the outermost one that was called last.
_call: Any = None
#: In a process that makes batches for a script: what it has made.
_of_worker: dict[str, int] | None = None
#: What the thread of a loader that pins memory runs.
_pinning: Any = None
#: Of each thread of the script's.
_of_thread = threading.local()


def install(torch: Any) -> None:
    """Put the stand-ins in place."""
    global _call, _pinning
    plain = vars(torch.nn.Module)["__call__"]
    _call = _native.ModuleCall(plain, _begin_root, _begin_module, _end_module, _torch_steps.loop)
    put(torch.nn.Module, "__call__", _call, plain)
    engine, name = torch.autograd.graph, "_engine_run_backward"
    _stand_in(engine, name, _begin_backward, _end_backward)
    # Also while steps go unwatched.
    plain = engine._engine_run_backward
    put(engine, name, _native.Backward(plain, _torch_steps.backward_begins, _torch_steps.backward_ended, _torch_steps.loop), plain)
    torch.autograd._engine_run_backward = engine._engine_run_backward
    loader = torch.utils.data.dataloader._BaseDataLoaderIter
    # Also while steps go unwatched: what NumPy does is always seen.
    _stand_in(loader, "__next__", _begin_data, _end_data, False)
    # Draws a number of chance's on the host. One with processes of its own asks for the first batches, too.
    _stand_in(loader, "__init__", _begin_loader, _end_loader, False)
    for name in ("__init__", "_reset"):
        _stand_in(torch.utils.data.dataloader._MultiProcessingDataLoaderIter, name, _begin_loader, _end_loader, False)
    begins, ends = lambda *_: _torch_steps.turn_begins(), lambda since, *_: _torch_steps.turned(since)
    _stand_in(torch.utils.data.dataloader._MultiProcessingDataLoaderIter, "_shutdown_workers", begins, ends, False)
    _stand_in(torch.utils.data._utils.worker, "_worker_loop", _begin_worker, _nothing, False)
    for fetcher in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
        _stand_in(getattr(torch.utils.data._utils.fetch, fetcher), "fetch", _begin_batch, _end_batch, False)
    _pinning = torch.utils.data._utils.pin_memory._pin_memory_loop
    from importlib import import_module

    optimizers = import_module("torch.optim.optimizer")
    optimizers.register_optimizer_step_pre_hook(_before_step)
    optimizers.register_optimizer_step_post_hook(_after_step)
    _torch_foreach.install(torch, _stand_in)
    _torch_whole.install(torch)
    _torch_recurrent.install(torch)
    _torch_attention.install(torch)
    _torch_apart.install(torch)

    # What a thread calls first, and has returned from when it runs: Python may end a thread wherever it is, by unwinding its
    # stack, on which nothing of ours may be.
    _stand_in(threading.Thread, "_set_ident", _begin_thread, _nothing, False)


def _stand_in(holder: Any, name: str, enter: Any, leave: Any, of_steps: bool = True) -> None:
    plain = vars(holder)[name]
    put(holder, name, _native.Named(plain, name, enter, leave, True, of_steps), plain)


def put(holder: Any, name: str, stand_in: Any, plain: Any) -> None:
    """Have this stand in for `plain`, which passes for it wherever programs look."""
    for key in ("__module__", "__name__", "__qualname__", "__doc__"):
        if hasattr(plain, key):
            stand_in.__dict__[key] = getattr(plain, key)
    if isinstance(holder, type):
        # A method of C's is no module's: it pickles as the class that has it, and its name there.
        stand_in.__dict__["__reduce__"] = lambda: (getattr, (holder, name))
    else:
        stand_in.__dict__["__reduce__"] = lambda: name
    if isinstance(plain, FunctionType) and not hasattr(plain, "__wrapped__"):
        stand_in.__dict__["__wrapped__"] = plain  # by which its source is found
    setattr(holder, name, stand_in)


def _begin_root(args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> None:
    _torch_steps.begins(args[0], (*args[1:], *(kwargs or {}).values()))


def where() -> str:
    """The device that the outermost module has its parameters on, as far as one is imitated; that of another one, where
    that has none, as a loss; without any the one on which steps made the most tensors."""
    root = _call.root if _call is not None else None
    for module in itertools.chain([root] if root is not None else [], _met):
        for parameter in module.parameters():
            if (known := _torch_ops._known(parameter)) is not None:
                return known.device or "cpu"
    return _torch_unwatched.mostly


def parameters() -> Iterator[Any]:
    """Those of all modules that were called."""
    for module in _met:
        yield from (one for one in module._parameters.values() if one is not None)


def _begin_module(args: tuple[Any, ...]) -> None:
    module, root = args[0], _call.root
    if root not in _names:
        _names[root] = {id(part): name for name, part in root.named_modules()}
    if module not in _met:
        _met.add(module)
        if (kind := getattr(module, "original_name", None)) in ("GRU", "RNN"):
            _native.unseen("recurrent", f"{kind}, compiled by its source, was recorded step by step, as the CPU computes it: a GPU takes fewer, "
                           "larger calls, so its time here is too long")  # fmt: skip
        _know_parameters(module)
    _torch_ops.path.append(_names[root].get(id(module)) or None)


def _know_parameters(module: Any) -> None:
    for parameter in (*module._parameters.values(), *module._buffers.values()):
        if parameter is not None:
            _torch_ops.assign(parameter, _torch_ops.PARAMETER, False)


def _end_module() -> None:
    _torch_ops.path.pop()


def _begin_backward(_: str, args: tuple[Any, ...]) -> tuple[str | None, Any]:
    _torch_whole.backward_begins(args)
    return _enter("backward"), args[0]


def _end_backward(before: tuple[str | None, Any], *_: Any) -> None:
    _torch_whole.flush()
    _torch_ops.phase, outputs = before
    if _torch_ops.valueless:
        from . import _torch_fake

        _torch_fake.after_backward()
    _know_gradients(outputs)


def _know_gradients(outputs: Any) -> None:
    """What a pass back from these, which may have ended in an error, has left to the leaves of their graph is gradients,
    whether an optimizer takes them or not."""
    nodes = [node for one in outputs if (node := getattr(one, "grad_fn", None)) is not None]
    met = set(nodes)
    with _torch_ops._torch._C.DisableTorchFunction():
        while nodes:
            node = nodes.pop()
            following = [one for one, _ in node.next_functions if one is not None and one not in met]
            met.update(following)
            nodes += following
            # Leaves have such nodes.
            if type(node).__name__ == "AccumulateGrad" and node.variable.grad is not None:
                _torch_ops.assign(node.variable.grad, _torch_ops.GRADIENT)


def _begin_worker(_: str, __: tuple[Any, ...]) -> None:
    """This process loads data beside the script: what the script waits for it is seen there."""
    global _of_worker
    _native.unseen("loader-process", "processes of a DataLoader worked beside the script: only how long a batch took is known")
    _of_worker = {"workers": 1, "batches": 0, "ns": 0}
    while _native.recording():
        _native.stop()
    from . import _torch, _torch_processes

    _torch.pause()
    _torch_processes.loads()


def _begin_batch(_: str, __: tuple[Any, ...]) -> int:
    return _native.clock_ns() if _of_worker is not None else 0


def _end_batch(began: int, _: tuple[Any, ...], result: Any, *__: Any) -> None:
    """A worker has made a batch: how many so far, and how long they took in all."""
    if _of_worker is None or result is None:
        return
    from torch.utils.data import get_worker_info

    _of_worker["workers"] = get_worker_info().num_workers
    _of_worker["batches"] += 1
    _of_worker["ns"] += _native.clock_ns() - began
    told = ", ".join(f'"{name}": {value}' for name, value in _of_worker.items())
    _native.set_program(f'{{"loaders": {{{told}}}}}')
    _endings.write_sparingly(share=0.03)


def _begin_loader(_: str, __: tuple[Any, ...]) -> tuple[str | None, _native.Moment | None]:
    return _enter("data"), _torch_steps.turn_begins()


def _end_loader(before: tuple[str | None, _native.Moment | None], *_: Any) -> None:
    phase, since = before
    _end_phase(phase)
    _torch_steps.turned(since)


def _begin_data(_: str, arguments: tuple[Any, ...]) -> tuple[str | None, bool, int, _native.Moment | None]:
    _torch_steps.goes_on()
    phase, before = _enter("data"), _native.loading(True)
    # A batch that this process makes is what makes it; one that others make is waited for.
    waits = hasattr(arguments[0], "_workers")
    # The first one is there when processes have begun.
    since = _torch_steps.turn_begins() if waits and arguments[0]._num_yielded == 0 else None
    return phase, before, _native.enter("torch.utils.data.DataLoader.__next__") if waits else 0, since


def _end_data(before: tuple[str | None, bool, int, _native.Moment | None], _: tuple[Any, ...], result: Any, *__: Any) -> None:
    phase, loading, token, since = before
    if token:
        _native.leave(token, (), None if result is None else ())
    _end_phase(phase)
    _native.loading(loading)
    _torch_steps.turned(since)
    if _torch_unwatched.shared and _torch_steps.skipping:
        _know_batch(result)


def _know_batch(value: Any) -> None:
    """What a loader gave unwatched is the host's, though steps make the like."""
    for tensor in _torch_ops.flat(list(value.values()) if isinstance(value, dict) else value):
        if _torch_unwatched.is_shared(tensor):
            _torch_ops.stored(tensor, False, _torch_unwatched.OF_HOST)


def _enter(phase: str) -> str | None:
    before = _torch_ops.phase
    _torch_ops.phase = phase
    return before


def _end_phase(before: str | None) -> None:
    _torch_ops.phase = before


#: For how many parameters an optimizer had a state when it last made its step.
_states: dict[weakref.ref[Any], int] = {}
#: The one that has made its step last, or is making it.
_stepping: weakref.ref[Any] | None = None


@_native.StepHook
def _before_step(optimizer: Any) -> None:
    global _stepping
    _torch_ops.phase, _stepping = "optimizer", weakref.ref(optimizer)
    if not _torch_steps.skipping:
        _torch_foreach.begins(optimizer)
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                _torch_ops.assign(parameter, _torch_ops.PARAMETER, False)
                if parameter.grad is not None:
                    _torch_ops.assign(parameter.grad, _torch_ops.GRADIENT)


@_native.StepHook
def _after_step(optimizer: Any) -> None:
    _torch_ops.phase = None
    count = len(optimizer.state)
    if _states.get(weakref.ref(optimizer)) != count:
        _states[weakref.ref(optimizer, _states.pop)] = count
        if _torch_steps.skipping:
            _know_counts(optimizer)
    if not _torch_steps.skipping:
        _know_states(optimizer)
    _torch_steps.optimizer_stepped()


@_native.StepHook
def _know_states(optimizer: Any) -> None:
    """What an optimizer keeps is its state."""
    for state in optimizer.state.values():
        # Some keep lists, as of the steps that they have made.
        for value in _torch_ops.flat(list(state.values()) if isinstance(state, dict) else ()):
            if value.dim() > 0:
                _torch_ops.assign(value, _torch_ops.STATE)


def stepping() -> Any:
    """The optimizer that has made its step last, or is making it; None where the script is done with it."""
    return _stepping() if _stepping is not None else None


def no_room() -> None:
    """Memory has run out: a step that an optimizer is making ends here, and modules that are being built are not called."""
    _know_built()
    optimizer = stepping() if _torch_ops.phase == "optimizer" else None
    if optimizer is not None:
        _know_states(optimizer)


def _know_built() -> None:
    """What modules have is parameters, though they may not have been called so far."""
    module = _torch_ops._torch.nn.Module
    for one in gc.get_objects():
        # The module's own beginnings come before it has any; asked without code of the script's.
        if issubclass(type(one), module) and "_buffers" in object.__getattribute__(one, "__dict__"):
            _know_parameters(one)


def _know_counts(optimizer: Any) -> None:
    """Of what an optimizer has begun unwatched: its counts of steps are numbers of the host, where it does not say otherwise."""
    for group in optimizer.param_groups:
        if not (group.get("capturable") or group.get("fused")):
            for state in map(optimizer.state.get, group["params"]):
                for name in ("step", "mu_product") if isinstance(state, dict) else ():
                    if hasattr(value := state.get(name), "untyped_storage"):
                        _torch_ops.stored(value, False, _torch_unwatched.OF_HOST)


def _begin_thread(_: str, args: tuple[Any, ...]) -> None:
    from . import _torch, _torch_fake, _torch_let_in

    # A thread that C has begun only gets its name here.
    if not _native.recording() or type(args[0]).__name__ == "_DummyThread":
        return
    _torch_let_in.begin_thread()
    # A loader's thread that pins works beside the script, as its processes do.
    if getattr(args[0], "_target", None) is not _pinning:
        _torch_fake.begin_thread()
        _torch.resume()
        _torch_steps.begin_beside()
    _of_thread.ends = _ThreadEnds(_torch_let_in.end_thread, _torch_steps.thread_ends, _torch.pause, _torch_fake.end_thread)


class _ThreadEnds:
    """Takes our modes away when Python lets a thread's own variables go, before those learn of it who wait for the thread.
    Left there, they would be let go later, by C++, which ends the process where Python itself is at its end by then."""

    def __init__(self, *ends: Any) -> None:
        self.ends, self.asks, self.thread = ends, threading.get_ident, threading.get_ident()

    def __del__(self) -> None:
        # At the end of Python the main thread lets go what is of daemons.
        if self.asks() == self.thread:
            for end in self.ends:
                end()


def _nothing(*_: Any) -> None:
    pass
