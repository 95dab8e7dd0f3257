"""Tensors in files: saving copies them from a GPU; where one is imitated, loading puts them back where they were."""

from __future__ import annotations

import functools

from .. import _native
from ..events import recorder
from . import frames, patch
from .describe import contexts, storages
from .no_gpu import call_words, placement
from .session import GPU, INPUT, no_gpu, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


class State:
    """What changes while the script runs."""

    #: What is being loaded goes to the device of a script that has none.
    onto_device = False


state = State()


#: Before PyTorch's own for the CPU, which is 10.
_PRIORITY = 5

#: Storages that are in the file being written: tensors may share one.
_written: set[int] = set()


def install(torch: Any) -> None:
    """Tell PyTorch whose device is imitated, and place what comes from a file that names one."""
    torch.serialization.register_package(_PRIORITY, _tag, _place)
    for name in ("_save", "_legacy_save"):
        plain = getattr(torch.serialization, name, None)
        if plain is not None:
            setattr(torch.serialization, name, _apart(plain))
    torch.UntypedStorage.to = _moves(torch.UntypedStorage.to)
    torch.jit.load = _loads(torch.jit.load)
    compiled = torch.jit.RecursiveScriptModule
    compiled.save = _saves(compiled.save)


def install_aside(torch: Any) -> None:
    """Tell what a script without a GPU would copy back to save it, and to the GPU where it loads it there."""
    torch.serialization.register_package(_PRIORITY, _tag, _put)
    load = torch.load
    patch.put(torch, "load", _native.Named(load, "load", _load_begins, _load_ends, keywords=True), load)
    for name in ("_save", "_legacy_save"):
        if (plain := getattr(torch.serialization, name, None)) is not None:
            patch.watch(torch.serialization, name, plain, lambda _: _written.clear(), lambda *_: None)


def _apart(plain: Any) -> Any:
    @functools.wraps(plain)
    def save(*args: Any, **kwargs: Any) -> Any:
        _written.clear()
        return plain(*args, **kwargs)

    return save


def _moves(plain: Any) -> Any:
    """`storage.to`, and so `storage.cuda`: a copy on the GPU, as scripts say for `map_location`."""

    @functools.wraps(plain)
    def to(self: Any, *, device: Any, non_blocking: bool = False) -> Any:
        if not str(device).startswith("cuda"):
            return plain(self, device=device, non_blocking=non_blocking)
        known = storages.alive.get(self._cdata)
        return self if known is not None and known.device == GPU else _place(self.clone(), str(device))

    return to


def _loads(plain: Any) -> Any:
    """`torch.jit.load`, which reads on the host, and copies from there."""

    @functools.wraps(plain)
    def load(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        if not str(map_location).startswith("cuda"):
            return plain(f, map_location, *args, **kwargs)
        return plain(f, "cpu", *args, **kwargs).to(map_location)

    return load


def _saves(plain: Any) -> Any:
    """`save` of a module compiled by its source, whose tensors are written from the host."""

    @functools.wraps(plain)
    def save(self: Any, *args: Any, **kwargs: Any) -> Any:
        leaves(tensor.untyped_storage() for tensor in (*self.parameters(), *self.buffers()))
        return plain(self, *args, **kwargs)

    return save


def placed(where: Any, place: str) -> str:
    """The device on which a function that is `map_location` puts what was on `place`."""
    import torch

    storage = where(torch.UntypedStorage(0), place)
    if storage is None:
        return place
    known = storages.alive.get(storage._cdata)
    return (known.device if known is not None else None) or "cpu"


def leaves(of_tensors: Iterable[Any]) -> None:
    """These would be written to a file."""
    _written.clear()
    for storage in of_tensors:
        _tag(storage)


def _tag(storage: Any) -> str | None:
    """Where a storage is that is about to be written."""
    known = storages.alive.get(storage._cdata)
    if known is None or not (placement.holds(known) if no_gpu.tells else known.device not in (None, "cpu")):
        return None
    if known.id not in _written:
        _written.add(known.id)
        if no_gpu.tells:
            recorder.op(placement.COPY, [_bytes(storage, known.id)], [], [], contexts.context(), 0, 0)
        else:
            contexts.crossed(recorder.TO_HOST, [_bytes(storage, known.id)], [])
    return known.device


def _load_begins(_: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> bool:
    """`torch.load(path, map_location=device)` of a script that asks for a GPU and gets none."""
    before = state.onto_device
    location = args[1] if len(args) > 1 else (kwargs or {}).get("map_location")
    frame = frames.caller()
    of_script = "-packages" not in frame.f_code.co_filename and "load" in call_words.names(*frames.at(frame))
    cpu = isinstance(location, (str, session.torch.device)) and str(location) == "cpu"
    state.onto_device = of_script and cpu and session.gpu is None and not call_words.says_host(*frames.at(frame))
    return before


def _load_ends(before: bool, *_: Any) -> None:
    state.onto_device = before


def _put(storage: Any, location: str) -> Any:
    """What was read from a file, and a GPU would be sent; None for what is the host's."""
    if not state.onto_device or location != "cpu":
        return None
    known = storages.alive.get(storage._cdata) or storages.live(storage, INPUT, True)
    placement.was_made_there(known)
    if storage.nbytes():
        recorder.to_device(_bytes(storage, known.id), contexts.context())
    return storage


def _place(storage: Any, location: str) -> Any:
    """What was read from a file, on the device that it names; None for another's."""
    if not location.startswith("cuda"):
        return None
    if location not in ("cuda", GPU):
        raise RuntimeError(
            f"Attempting to deserialize object on CUDA device {location.partition(':')[2]} but "
            f"torch.cuda.device_count() "
            "is 1. Please use torch.load with map_location to map your storages to an existing device."
        )
    with contexts.on_device(GPU):
        known = storages.live(storage, INPUT, True)
    if storage.nbytes():
        contexts.crossed(recorder.TO_DEVICE, [], [_bytes(storage, known.id)])
    return storage


def _bytes(storage: Any, known: int) -> Any:
    return 2, 1, 0, (storage.nbytes(),), known
