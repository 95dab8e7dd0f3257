"""Files of tensors, where these have no values: none is written, and to the script each is there all the same.

What saving would copy from the GPU is copied, and the person is told. In the same run such a file can be asked for
its size, copied, renamed and removed; what is read from it is like what was to be written. A file that was there
before stays as it is.
"""

from __future__ import annotations

import copy
import functools
import importlib
import os
import shutil
import stat
import sys
import time

from ...events import recorder
from ...process import imports
from .. import frames, saved_files
from ..device import copies
from ..no_values import known_values
from ..session import GPU, session
from ..sides import side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


#: What was to be saved, by the file that it was to be in.
_left: dict[Any, Any] = {}


def leave_files(torch: Any) -> None:
    """Take the place of what saves and loads tensors, and of what is asked about files."""
    torch.save = torch.serialization.save = _saves(torch.save, "torch.save", "obj", "f")
    torch.load = torch.serialization.load = _loads(torch.load, "f", "map_location", None)
    _leave_compiled(torch)
    imports.after("safetensors", _open_unwritten)
    imports.after("safetensors.torch", _leave_safetensors)
    for name in ("replace", "rename"):
        setattr(os, name, _goes(getattr(os, name), True))
    for name in ("copyfile", "copy", "copy2", "move"):
        setattr(shutil, name, _goes(getattr(shutil, name), name == "move"))
    for name in ("remove", "unlink"):
        setattr(os, name, _removes(getattr(os, name)))
    os.stat = _stat(os.stat)


def _saves(plain: Any, function: str, what: str, where: str) -> Any:
    """What saves: its first parameters are `what` it is given and `where` that goes."""

    @functools.wraps(plain)
    def save(*args: Any, **kwargs: Any) -> None:
        given = dict(zip((what, where), args)) | kwargs
        if not _leave(given.get(what), given.get(where), function):
            _left.pop(_name(given.get(where)), None)
            plain(*args, **kwargs)

    return save


def _loads(plain: Any, file: str, place: str, default: Any) -> Any:
    """What loads: its first parameters are the `file` and the `place` of the tensors."""

    @functools.wraps(plain)
    def load(*args: Any, **kwargs: Any) -> Any:
        given = {place: default} | dict(zip((file, place), args)) | kwargs
        if (name := _name(given.get(file))) in _left:
            return _again(_left[name], given[place])
        return plain(*args, **kwargs)

    return load


def _leave_compiled(torch: Any) -> None:
    """The same of modules compiled by their source, which are written from memory."""
    load = torch.jit.load

    @functools.wraps(load)
    def found(f: Any, *args: Any, **kwargs: Any) -> Any:
        return _left[_name(f)] if _name(f) in _left else load(f, *args, **kwargs)

    save = torch.jit.save = _saves(torch.jit.save, "torch.jit.save", "m", "f")
    torch.jit.load = found
    torch.jit.RecursiveScriptModule.save = lambda self, f, **kwargs: save(self, f, **kwargs)


def _leave_safetensors(name: str) -> None:
    module: Any = sys.modules[name]
    module.save_file = _saves(module.save_file, "save_file", "tensors", "filename")
    module.load_file = _loads(module.load_file, "filename", "device", "cpu")


def _open_unwritten(name: str) -> None:
    module: Any = sys.modules[name]
    plain = module.safe_open

    @functools.wraps(plain, updated=())
    def safe_open(filename: Any, framework: Any = "pt", device: Any = "cpu", *args: Any, **kwargs: Any) -> Any:
        if (name := _name(filename)) in _left:
            return _Opened(_left[name], device)
        return plain(filename, framework, device, *args, **kwargs)

    module.safe_open = safe_open


class _Opened:
    """What `safetensors.safe_open` gives, of a file that was not written."""

    def __init__(self, tensors: dict[str, Any], device: Any) -> None:
        self._tensors, self._device = tensors, device

    def __enter__(self) -> _Opened:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def metadata(self) -> dict[str, str]:
        return {"format": "pt"}

    def keys(self) -> list[str]:
        return sorted(self._tensors)

    offset_keys = keys

    def get_tensor(self, name: str) -> Any:
        return _again(self._tensors[name], self._device)

    def get_slice(self, name: str) -> _Slice:
        return _Slice(self._tensors[name], self._device)


class _Slice:
    """A tensor of such a file, of which a part is read."""

    def __init__(self, tensor: Any, device: Any) -> None:
        self._tensor, self._device = tensor, device

    def __getitem__(self, index: Any) -> Any:
        return _again(self._tensor[index], self._device)

    def get_shape(self) -> list[int]:
        return list(self._tensor.shape)

    def get_dtype(self) -> str:
        types = importlib.import_module("safetensors.torch")._TYPES
        return next(str(name) for name, dtype in types.items() if dtype == self._tensor.dtype)


def _name(file: Any) -> Any:
    """What tells a file from others: its path, or itself where it has none."""
    path: Any = file if _is_path(file) else getattr(file, "name", None)
    return os.path.realpath(os.fsdecode(path)) if _is_path(path) else id(file)


def _is_path(file: Any) -> bool:
    return isinstance(file, (str, bytes, os.PathLike))


def _goes(plain: Any, leaves: bool) -> Any:
    """A file that is not there is copied or, where it `leaves` its place, moved: under another name or into a
    folder."""

    @functools.wraps(plain)
    def goes(src: Any, dst: Any, *args: Any, **kwargs: Any) -> Any:
        if not (_is_path(src) and (name := _name(src)) in _left) or os.path.lexists(name):
            return plain(src, dst, *args, **kwargs)
        at = os.path.join(dst, os.path.basename(name)) if os.path.isdir(dst) else dst
        _left[_name(at)] = _left.pop(name) if leaves else _left[name]
        return at

    return goes


def _removes(plain: Any) -> Any:
    @functools.wraps(plain)
    def remove(path: Any, *args: Any, **kwargs: Any) -> None:
        if not (_is_path(path) and _left.pop(_name(path), None) is not None) or os.path.lexists(path):
            plain(path, *args, **kwargs)

    return remove


def _stat(plain: Any) -> Any:
    """`os.stat`, by which Python asks whether there is a file, and how large."""

    @functools.wraps(plain)
    def stat_(path: Any, *args: Any, **kwargs: Any) -> os.stat_result:
        try:
            return plain(path, *args, **kwargs)  # type: ignore[no-any-return]
        except FileNotFoundError:
            if not _left or not _is_path(path) or (name := _name(path)) not in _left:
                raise
            folder, now = plain(os.path.dirname(name)), int(time.time())
        size = sum(tensor.nbytes for tensor in _tensors(_left[name]))
        return os.stat_result(
            (stat.S_IFREG | 0o644, 0, folder.st_dev, 1, folder.st_uid, folder.st_gid, size, now, now, now)
        )

    return stat_


def _leave(obj: Any, file: Any, function: str) -> bool:
    """Whether there are tensors in what would be written: then it is kept for who reads it."""
    tensors = list(_tensors(obj))
    if tensors:
        recorder.unseen("fake", f"{function} ({frames.script_line()}) wrote nothing: tensors had no values")
        saved_files.leaves([tensor.untyped_storage() for tensor in tensors])
        _left[_name(file)] = obj
    return bool(tensors)


def _again(obj: Any, where: Any) -> Any:
    """What would be read from a file: tensors of their own, where `where` (as `torch.load` has it) says."""
    from torch._subclasses.fake_tensor import FakeTensor

    lib = session.torch

    def read(tensor: Any) -> Any:
        place = side.where(tensor)
        if isinstance(where, dict):
            place = str(where.get(place, place))
        elif where is not None:
            place = known_values.call(saved_files.placed, where, place) if callable(where) else str(where)
        if not isinstance(tensor, FakeTensor):
            return known_values.call(lambda: tensor.detach().clone())  # a number, or a generator's state: it has values
        value = known_values.known(tensor)
        new = lib.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype)
        new = placed(new, None if value is None else known_values.call(lib.clone, value), place)
        return new.requires_grad_(tensor.requires_grad)

    def loaded(module: Any) -> Any:
        """A copy, whose tensors are those that are read."""
        memo = {id(buffer): read(buffer) for buffer in module.buffers()}
        memo |= {id(one): lib.nn.Parameter(read(one).detach(), one.requires_grad) for one in module.parameters()}
        return copy.deepcopy(module, memo)

    tree_map_only = lib.utils._pytree.tree_map_only
    return tree_map_only(lib.nn.Module, loaded, tree_map_only(lib.Tensor, read, obj))


def placed(new: Any, value: Any, place: Any) -> Any:
    """A tensor just read, whose values are these or not known, where it belongs."""
    if value is not None:
        new._value = value
    return copies.move(new, GPU, False) if side.named(place) == GPU else new


def _tensors(value: Any) -> Iterator[Any]:
    """Tensors in a value, in modules and optimizers, and in lists and dictionaries of these."""
    lib = session.torch
    for part in lib.utils._pytree.tree_leaves(value):
        if isinstance(part, lib.Tensor):
            yield part
        elif isinstance(part, (lib.nn.Module, lib.optim.Optimizer)):
            yield from _tensors(part.state_dict())
