"""`cupy.cuda.memory_hooks`: what a program wants to know of the memory that its arrays take and give back."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

from ..core import pools

_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "")


class MemoryHook:
    """Methods that are called before and after memory is taken and given back, in a block."""

    __module__ = "cupy.cuda.memory_hook"
    name = "MemoryHook"

    def __enter__(self) -> Any:
        if self.name in pools.hooks:
            raise KeyError(f"memory hook {self.name} already exists")
        pools.hooks[self.name] = self
        self.added()
        return self

    def __exit__(self, *_: object) -> None:
        pools.hooks[self.name].deleted()
        del pools.hooks[self.name]

    def added(self) -> None: ...

    def deleted(self) -> None: ...

    def alloc_preprocess(self, **kwargs: Any) -> None: ...

    def alloc_postprocess(self, **kwargs: Any) -> None: ...

    def malloc_preprocess(self, **kwargs: Any) -> None: ...

    def malloc_postprocess(self, **kwargs: Any) -> None: ...

    def free_preprocess(self, **kwargs: Any) -> None: ...

    def free_postprocess(self, **kwargs: Any) -> None: ...


class DebugPrintHook(MemoryHook):
    """Prints a line for each time that memory is taken or given back."""

    __module__ = "cupy.cuda.memory_hooks.debug_print"
    name = "DebugPrintHook"

    def __init__(self, file: Any = sys.stdout, flush: bool = True) -> None:
        self.file, self.flush = file, flush

    def _print(self, hook: str, told: str) -> None:
        print(f'{{"hook":"{hook}",{told}}}', file=self.file, flush=self.flush)

    def alloc_postprocess(self, **kwargs: Any) -> None:
        self._print("alloc", '"device_id":{device_id},"mem_size":{mem_size},"mem_ptr":{mem_ptr}'.format(**kwargs))

    def malloc_postprocess(self, **kwargs: Any) -> None:
        told = '"device_id":{device_id},"size":{size},"mem_size":{mem_size},"mem_ptr":{mem_ptr}'
        self._print("malloc", told.format(**kwargs) + f',"pmem_id":"{kwargs["pmem_id"]:#x}"')

    def free_postprocess(self, **kwargs: Any) -> None:
        told = '"device_id":{device_id},"mem_size":{mem_size},"mem_ptr":{mem_ptr},"pmem_id":"{pmem_id:#x}"'
        self._print("free", told.format(**kwargs))


class _Frame:
    """A line of the program, and what its calls have taken: of the pool, and by the pool of the device."""

    def __init__(self) -> None:
        self.children: dict[tuple[str, int, str], _Frame] = {}
        self.used = self.acquired = 0

    def amounts(self) -> str:
        return f"({_readable(self.used)}, {_readable(self.acquired)})"


class LineProfileHook(MemoryHook):
    """Counts what each line of the program takes, with all that it calls."""

    __module__ = "cupy.cuda.memory_hooks.line_profile"
    name = "LineProfileHook"

    def __init__(self, max_depth: int = 0) -> None:
        self._root, self._max_depth = _Frame(), max_depth

    def malloc_preprocess(self, **kwargs: Any) -> None:
        self._count(kwargs["mem_size"], 0)

    def alloc_preprocess(self, **kwargs: Any) -> None:
        self._count(0, kwargs["mem_size"])

    def _count(self, used: int, acquired: int) -> None:
        lines = [at for at in traceback.extract_stack() if not at.filename.startswith((_PACKAGE, "<frozen "))]
        frame = self._root
        for line in (None, *(lines[: self._max_depth - 1] if self._max_depth > 0 else lines)):
            if line is not None:
                frame = frame.children.setdefault((line.filename, line.lineno or 0, line.name), _Frame())
            frame.used += used
            frame.acquired += acquired

    def print_report(self, file: Any = sys.stdout) -> None:
        """Writes what has been counted."""
        file.write(f"_root {self._root.amounts()}\n")
        self._print(self._root, 1, file)
        file.flush()

    def _print(self, frame: _Frame, depth: int, file: Any) -> None:
        for (filename, line, name), child in frame.children.items():
            file.write(f"{'  ' * depth}{filename}:{line}:{name} {child.amounts()}\n")
            self._print(child, depth + 1, file)


def _readable(size: float) -> str:
    for unit in ("", "K", "M", "G", "T", "P", "E"):
        if size < 1024.0:
            return f"{size:3.2f}{unit}B"
        size /= 1024.0
    return f"{size:.2f}ZB"
