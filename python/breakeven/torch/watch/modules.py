"""Which part of a training step runs: modules by their path, backward, optimizer, loading of data.

None of it is visible to the script: no hook of a module is registered, and the stand-ins have no frame of their own.
"""

from __future__ import annotations

import threading
import weakref

from ... import _native
from ...events import recorder
from .. import patch
from ..describe import called_modules, optimizer_state, storages
from ..device import function_mode
from ..gpu_form import attention, composites, foreach, fused, recurrent
from ..session import GRADIENT, PARAMETER, session
from ..steps import sampler
from . import loaders, threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def install(torch: Any) -> None:
    """Put the stand-ins in place."""
    plain = vars(torch.nn.Module)["__call__"]
    called_modules.state.call = _native.ModuleCall(plain, _begin_root, _begin_module, _end_module, sampler.loop)
    patch.put(torch.nn.Module, "__call__", called_modules.state.call, plain)
    engine, name = torch.autograd.graph, "_engine_run_backward"
    patch.stand_in(engine, name, _begin_backward, _end_backward)
    # Also while steps go unwatched.
    plain = engine._engine_run_backward
    patch.put(
        engine, name, _native.Backward(plain, sampler.backward_begins, sampler.backward_ended, sampler.loop), plain
    )
    torch.autograd._engine_run_backward = engine._engine_run_backward
    loader = torch.utils.data.dataloader._BaseDataLoaderIter
    # Also while steps go unwatched: what NumPy does is always seen.
    patch.stand_in(loader, "__next__", loaders.begin_data, loaders.end_data, False)
    # Draws a number of chance's on the host. One with processes of its own asks for the first batches, too.
    patch.stand_in(loader, "__init__", loaders.begin_loader, loaders.end_loader, False)
    for name in ("__init__", "_reset"):
        patch.stand_in(
            torch.utils.data.dataloader._MultiProcessingDataLoaderIter,
            name,
            loaders.begin_loader,
            loaders.end_loader,
            False,
        )
    begins, ends = lambda *_: sampler.turn_begins(), lambda since, *_: sampler.turned(since)
    patch.stand_in(torch.utils.data.dataloader._MultiProcessingDataLoaderIter, "_shutdown_workers", begins, ends, False)
    patch.stand_in(torch.utils.data._utils.worker, "_worker_loop", loaders.begin_worker, _nothing, False)
    for fetcher in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
        patch.stand_in(
            getattr(torch.utils.data._utils.fetch, fetcher), "fetch", loaders.begin_batch, loaders.end_batch, False
        )
    threads.state.pinning = torch.utils.data._utils.pin_memory._pin_memory_loop
    from importlib import import_module

    optimizers = import_module("torch.optim.optimizer")
    optimizers.register_optimizer_step_pre_hook(_before_step)
    optimizers.register_optimizer_step_post_hook(_after_step)
    foreach.install(torch, patch.stand_in)
    fused.install(torch)
    recurrent.install(torch)
    attention.install(torch)
    composites.install(torch)

    # What a thread calls first, and has returned from when it runs: Python may end a thread wherever it is, by
    # unwinding its stack, on which nothing of ours may be.
    patch.stand_in(threading.Thread, "_set_ident", threads.begin_thread, _nothing, False)


def _begin_root(args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> None:
    sampler.begins(args[0], (*args[1:], *(kwargs or {}).values()))


def _begin_module(args: tuple[Any, ...]) -> None:
    module, root = args[0], called_modules.state.call.root
    if root not in called_modules.paths:
        called_modules.paths[root] = {id(part): name for name, part in root.named_modules()}
    if module not in called_modules.modules:
        called_modules.modules.add(module)
        if (kind := getattr(module, "original_name", None)) in ("GRU", "RNN"):
            recorder.unseen("recurrent", f"{kind}, compiled by its source, was recorded step by step, as the CPU "
                                        f"computes it: a GPU takes fewer, "
                           "larger calls, so its time here is too long")  # fmt: skip
        called_modules.know_parameters(module)
    session.path.append(called_modules.paths[root].get(id(module)) or None)


def _end_module() -> None:
    session.path.pop()


def _begin_backward(_: str, args: tuple[Any, ...]) -> tuple[str | None, Any]:
    fused.backward_begins(args)
    return loaders.enter_phase("backward"), args[0]


def _end_backward(before: tuple[str | None, Any], *_: Any) -> None:
    fused.flush()
    session.phase, outputs = before
    if session.valueless:
        function_mode.after_backward()
    _know_gradients(outputs)


def _know_gradients(outputs: Any) -> None:
    """What a pass back from these, which may have ended in an error, has left to the leaves of their graph is
    gradients, whether an optimizer takes them or not."""
    nodes = [node for one in outputs if (node := getattr(one, "grad_fn", None)) is not None]
    met = set(nodes)
    with session.torch._C.DisableTorchFunction():
        while nodes:
            node = nodes.pop()
            following = [one for one, _ in node.next_functions if one is not None and one not in met]
            met.update(following)
            nodes += following
            # Leaves have such nodes.
            if type(node).__name__ == "AccumulateGrad" and node.variable.grad is not None:
                storages.assign(node.variable.grad, GRADIENT)


@_native.StepHook
def _before_step(optimizer: Any) -> None:
    session.phase, optimizer_state.state.stepping = "optimizer", weakref.ref(optimizer)
    if not sampler.state.skipping:
        foreach.begins(optimizer)
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                storages.assign(parameter, PARAMETER, False)
                if parameter.grad is not None:
                    storages.assign(parameter.grad, GRADIENT)


@_native.StepHook
def _after_step(optimizer: Any) -> None:
    session.phase = None
    count = len(optimizer.state)
    if optimizer_state.states.get(weakref.ref(optimizer)) != count:
        optimizer_state.states[weakref.ref(optimizer, optimizer_state.states.pop)] = count
        if sampler.state.skipping:
            optimizer_state.know_counts(optimizer)
    if not sampler.state.skipping:
        optimizer_state.know_states(optimizer)
    sampler.optimizer_stepped()


def _nothing(*_: Any) -> None:
    pass
