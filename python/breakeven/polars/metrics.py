"""What the streaming engine tells of its nodes, where this version does: to stderr, when a query has ended."""

from __future__ import annotations

import os
import re
import threading

#: Both are read by the engine at each query.
_VARIABLES = ("POLARS_TRACK_METRICS", "POLARS_LOG_METRICS")
_NODE = re.compile(r"([\w\-]+(?:\[.*?\])?): tot\(([\d.]+)(ns|µs|ms|s)\).*?recv\(row=(\d+).*?sent\(row=(\d+)")
_HEAD = "Streaming query took "
_UNITS = {"ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9}
_STDERR = 2

#: (node, ns over all threads, rows received, rows sent).
Node = tuple[str, float, int, int]


class Tells:
    """Whether this version tells anything, which is tried once."""

    works: bool | None = None


def may_listen() -> bool:
    """Whether descriptor 2 may be another file for a while: nobody else writes to it, and the script asked for none of
    this itself."""
    return Tells.works is not False and threading.active_count() == 1 and not any(map(os.environ.get, _VARIABLES))


class Listening:
    """Descriptor 2 is a file in memory until `end`."""

    def __init__(self) -> None:
        self.stderr = os.dup(_STDERR)
        try:
            self.file = os.memfd_create("breakeven")
        except BaseException:
            os.close(self.stderr)
            raise
        os.dup2(self.file, _STDERR)
        for name in _VARIABLES:
            os.putenv(name, "1")

    def end(self) -> list[Node]:
        """What the engine told; the rest of what came is passed on."""
        for name in _VARIABLES:
            os.unsetenv(name)
        os.dup2(self.stderr, _STDERR)
        os.close(self.stderr)
        size = os.lseek(self.file, 0, os.SEEK_END)
        os.lseek(self.file, 0, os.SEEK_SET)
        told = os.read(self.file, size).decode(errors="surrogateescape") if size else ""
        os.close(self.file)
        nodes, rest = parse(told)
        if rest:
            os.write(_STDERR, rest.encode(errors="surrogateescape"))
        return nodes


def parse(text: str) -> tuple[list[Node], str]:
    """The nodes in what came to stderr, and what is not the engine's."""
    nodes: list[Node] = []
    rest: list[str] = []
    after_nodes = False
    for line in text.splitlines(keepends=True):
        found = _NODE.match(line)
        if found is not None:
            nodes.append((found[1], float(found[2]) * _UNITS[found[3]], int(found[4]), int(found[5])))
        elif not line.startswith(_HEAD) and not (after_nodes and line == "\n"):
            rest.append(line)
        after_nodes = found is not None
    return nodes, "".join(rest)
