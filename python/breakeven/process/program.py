"""What is told of the program: its name and arguments, the machine, the versions of what it uses."""

from __future__ import annotations

import os
import sys
import time

from .. import _native
from . import machine

_versions: dict[str, str] = {}


def describe(argv: list[str], kind: str) -> None:
    """Tell `_native` what runs, where."""
    from _json import encode_basestring_ascii as text

    name = os.path.basename(argv[0]) if argv and argv[0] not in ("-c", "-m", "") else " ".join(sys.orig_argv[1:3])
    _versions["python"] = ".".join(map(str, sys.version_info[:3]))
    fields = {
        "name": text(name),
        "argv": "[" + ",".join(map(text, argv)) + "]",
        "versions": _versions_text(),
        "recorder": text(f"numpy-{kind}"),
        "start_unix_ms": str(time.time_ns() // 1_000_000),
        "cpu": text(machine.cpu()),
        "cpu_threads": str(machine.threads()),
    }
    _native.set_program("{" + ",".join(f'"{key}":{value}' for key, value in fields.items()) + "}")


def add_version(package: str, version: str) -> None:
    """The program uses this package."""
    _versions[package] = version
    _native.set_program(f'{{"versions": {_versions_text()}}}')


def _versions_text() -> str:
    from _json import encode_basestring_ascii as text

    return "{" + ",".join(f"{text(key)}:{text(value)}" for key, value in _versions.items()) + "}"
