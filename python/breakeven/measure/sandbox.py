"""A copy of the script's folder for each run, so that sides neither see nor overwrite each other's files."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

#: Files beyond these are links to the original, until the script writes to one.
MOST_BYTES = 256 << 20
MOST_FILES = 2000
#: Folders that no script writes results to: links.
_LINKED = frozenset([".git", ".hg", ".venv", "venv", "node_modules", "target", "__pycache__", ".mypy_cache", ".tox"])


class Sandbox:
    """The copy: where the script is in it, and in which folder it runs."""

    def __init__(self, root: Path, script: Path) -> None:
        """Copy the working folder, or that of the script where it is in another, to `root`, which does not exist."""
        self.root = root
        self._left = [MOST_BYTES, MOST_FILES]
        #: Whether something was linked because the folder is large.
        self.linked = False
        here, script = Path.cwd().resolve(), script.resolve()
        if script.is_relative_to(here) and here != Path(here.anchor):
            self.original = here
            self.cwd = root / "folder"
            self.script = self.cwd / script.relative_to(here)
            self._copy(here, self.cwd, script)
        else:
            self.original = script.parent
            self.cwd = root / "folder"
            self._copy(script.parent, self.cwd, script)
            self.script = self.cwd / script.name
        self._links = self.cwd.resolve()
        self._before = self._seen()

    def _copy(self, folder: Path, to: Path, script: Path) -> None:
        to.mkdir(parents=True)
        folders = []
        for entry in sorted(os.scandir(folder), key=lambda entry: (entry.is_dir(), entry.name)):
            target = to / entry.name
            if entry.is_symlink() or not (entry.is_dir() or entry.is_file()):
                os.symlink(os.path.realpath(entry.path), target)
            elif entry.is_dir():
                folders.append(entry)
            else:
                self._copy_file(entry, target, script)
        for entry in folders:
            target = to / entry.name
            if entry.name in _LINKED or str(self.root.resolve()).startswith(os.path.realpath(entry.path) + os.sep):
                if entry.name != "__pycache__":
                    os.symlink(os.path.realpath(entry.path), target)
            elif self._left[1] <= 0 and not script.is_relative_to(entry.path):
                self.linked = True
                os.symlink(os.path.realpath(entry.path), target)
            else:
                self._copy(Path(entry.path), target, script)

    def _copy_file(self, entry: Any, target: Path, script: Path) -> None:
        size = entry.stat().st_size
        is_script = target.name == script.name and os.path.realpath(entry.path) == str(script)
        if not is_script and (size > self._left[0] or self._left[1] <= 0):
            self.linked = True
            os.symlink(os.path.realpath(entry.path), target)
            return
        self._left[0] -= size
        self._left[1] -= 1
        shutil.copy2(entry.path, target)

    def _seen(self) -> dict[str, tuple[int, int]]:
        found = {}
        for folder, folders, names in os.walk(self.cwd):
            folders[:] = [name for name in folders if name != "__pycache__"]
            for name in names:
                path = os.path.join(folder, name)
                if os.path.islink(path):
                    continue
                stat = os.stat(path)
                found[os.path.relpath(path, self.cwd)] = stat.st_mtime_ns, stat.st_size
        return found

    def written(self) -> list[str]:
        """Files that are new, or changed, since the copy was made."""
        return sorted(name for name, stat in self._seen().items() if self._before.get(name) != stat)

    def protect(self) -> None:
        """From now on, a link into the original folder that is opened for writing becomes a copy first."""
        sandboxes.append(self)
        if len(sandboxes) == 1:
            sys.addaudithook(_opened)

    def own(self, path: Any, keeps: bool) -> None:
        """Make a link in this copy a file of its own, with the text of the original where the writer `keeps` it."""
        full = os.path.abspath(path)
        if not os.path.islink(full) or not full.startswith(str(self.cwd) + os.sep):
            return
        original = os.path.realpath(full)
        os.unlink(full)
        if keeps and os.path.isfile(original):
            shutil.copy2(original, full)


#: Those of this process: one a run.
sandboxes: list[Sandbox] = []
_WRITING = os.O_WRONLY | os.O_RDWR


def _opened(event: str, args: tuple[Any, ...]) -> None:
    if event != "open" or not isinstance(args[0], (str, os.PathLike)):
        return
    path, mode, flags = args
    if (isinstance(mode, str) and set(mode) & set("wax+")) or (isinstance(flags, int) and flags & _WRITING):
        truncates = isinstance(mode, str) and "w" in mode
        sandboxes[-1].own(path, not truncates)
