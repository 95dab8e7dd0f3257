"""Runs a script so that it cannot tell it from `python SCRIPT ARGS…`.

Two ways. Where the `.pth` line of the installed package is in force, this process becomes `python SCRIPT ARGS…` by
`execv`, and the line arms it: nothing of the run is emulated. The AST recorder must hand rewritten code to the
interpreter, so there (and where the package is on the path without being installed) `__main__` is emulated here.
"""

from __future__ import annotations

import os
import sys

from .. import _native
from . import process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, TracebackType
    from typing import NoReturn


def main() -> None:
    """The entry of `python -m breakeven._run`."""
    _stay_with(os.environ.pop(process.PARENT, None))
    arguments = sys.argv[1:]
    if not arguments or (arguments[0] == "-m" and len(arguments) == 1):
        sys.exit("usage: python -m breakeven._run [-m MODULE | SCRIPT] ARGS…")
    try:
        kind = process.recorder()
    except ValueError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)
    directory = os.environ.get(process.DIRECTORY)
    installed = "breakeven.run.children" in sys.modules
    if kind == "off" or directory is None or (installed and (kind == "native" or arguments[0] == "-m")):
        _become(arguments)
    if arguments[0] == "-m":
        _run_module(arguments[1], arguments[2:], directory)
    else:
        _run_script(arguments, directory, kind)


def _stay_with(command: str | None) -> None:
    """Let a SIGKILL of the command that started us, which it cannot hand on, end the script too."""
    if command != str(os.getppid()):
        return  # started by hand, or by a wrapper that is no part of the command
    _native.die_with_parent()
    if command != str(os.getppid()):  # it was killed just before
        os.kill(os.getpid(), 9)


def _become(arguments: list[str]) -> NoReturn:
    """Replace this process by the interpreter with its own options and the script."""
    options = sys.orig_argv[1 : sys.orig_argv.index("-m")]
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, *options, *arguments])


def _run_script(arguments: list[str], directory: str, kind: str) -> None:
    path = os.path.abspath(arguments[0])
    sys.argv[:] = arguments
    if not process.is_source(path):
        _become(arguments)  # the interpreter has its own ways into those
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        sys.stderr.write(f"{sys.executable}: can't open file {path!r}: [Errno {error.errno}] {error.strerror}\n")
        sys.exit(2)
    if not getattr(sys.flags, "safe_path", sys.flags.isolated):
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    process.arm(directory)
    _drop_runner("breakeven._run", "breakeven.run.launch", "runpy", "pkgutil")
    try:
        _execute(_compiled(source, path, kind, arguments), _fresh_main(path))
    except BaseException:
        _pass_through()
        raise


def _run_module(name: str, arguments: list[str], directory: str) -> None:
    import runpy

    sys.argv[:] = ["-m", *arguments]
    process.arm(directory)
    _drop_runner("breakeven._run", "breakeven.run.launch")
    _fresh_main(None)
    try:
        _execute_module(runpy, name)
    except BaseException:
        _pass_through()
        raise


def _compiled(source: bytes, path: str, kind: str, arguments: list[str]) -> CodeType:
    try:
        code: CodeType = compile(source, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        if "unicode error" in str(error) or "null bytes" in str(error):
            # Of bytes that are no text it speaks otherwise where it reads a file. It runs nothing that could be
            # recorded, and would come back here to rewrite the script.
            os.environ.pop(process.DIRECTORY, None)
            _become(arguments)
        raise
    if kind == "ast":
        from ..numpy import ast_recorder

        return ast_recorder.rewritten(source, path) or code
    return code


def _execute(code: CodeType, namespace: dict[str, object]) -> None:
    exec(code, namespace)


def _execute_module(runpy: object, name: str) -> None:
    runpy._run_module_as_main(name)  # type: ignore[attr-defined]


def _drop_runner(*names: str) -> None:
    """Take out of `sys.modules` what only the start of this process needed."""
    for name in names:
        sys.modules.pop(name, None)


def _fresh_main(path: str | None) -> dict[str, object]:
    """The namespace of `__main__`, as the interpreter prepares it for a script."""
    import builtins

    namespace = sys.modules["__main__"].__dict__
    namespace.clear()
    namespace.update(
        __name__="__main__", __doc__=None, __package__=None, __loader__=None, __spec__=None, __annotations__={}
    )
    namespace["__builtins__"] = builtins
    if path is not None:
        from _frozen_importlib_external import SourceFileLoader

        namespace["__loader__"] = SourceFileLoader("__main__", path)
        namespace["__file__"] = path
        namespace["__cached__"] = None
    return namespace


def _pass_through() -> None:
    """Arrange that the exception in flight ends the process as it would have ended the script's own interpreter."""
    kind = sys.exc_info()[0]
    if kind is not None and issubclass(kind, SystemExit):
        return
    if kind is KeyboardInterrupt:
        # `python SCRIPT` dies by SIGINT, `python -m` exits with 1; a string run by `exec` sets the interpreter's mark.
        try:
            exec("raise KeyboardInterrupt")
        except KeyboardInterrupt:
            pass
    hook = sys.excepthook

    def without_runner(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.excepthook = hook
        ours = (_execute.__code__, _execute_module.__code__, _compiled.__code__)
        rest, place = trace, trace
        while place is not None:
            if place.tb_frame.f_code in ours:
                rest = place.tb_next
            place = place.tb_next
        hook(kind, error.with_traceback(rest), rest)

    sys.excepthook = without_runner
