"""One recorded process: when recording begins, what is told about the program, and where the file goes.

Only modules that every interpreter has loaded at its start are imported here, so that the script finds the
`sys.modules` it would have found without us, and the start costs little.
"""

from __future__ import annotations

import atexit
import os
import sys

from .. import _native
from ..process import imports, program


class State:
    """What changes while the script runs."""

    prepared = False


state = State()


DIRECTORY = "BREAKEVEN_RECORD_DIR"
RECORDER = "BREAKEVEN_RECORDER"
#: Process id of the command; taken out of the environment before the script runs.
PARENT = "BREAKEVEN_PARENT"
HOOKS = "BREAKEVEN_HOOKS"

#: A crash or a kill loses at most so much.
_FLUSH_SECONDS = 0.5


def recorder() -> str:
    """The recorder in force: `native` where hooks may run, else `ast`; `off` and `ast` when asked for."""
    wanted = os.environ.get(RECORDER, "native")
    if wanted not in ("native", "ast", "off"):
        raise ValueError(f"{RECORDER} is `{wanted}`; it may be `native`, `ast` or `off`")
    if wanted == "native" and _native.unsupported() is not None:
        return "ast"
    return wanted


def is_source(script: str) -> bool:
    """Whether a script's path names source text, which can be rewritten, and not a folder, archive or compiled file."""
    return not os.path.isdir(script) and not script.endswith((".pyz", ".zip", ".pyc"))


def arm(directory: str) -> None:
    """Record this process from now on, into a file of its own in `directory`."""
    kind = recorder()
    if kind == "off":
        return
    from ..cupy import offer
    from ..process import endings, gpu_asked, spawns

    path = _free_path(directory)
    offer.offer()
    program.describe(sys.argv, kind)
    begin(kind)
    _native.flush_every(path, _FLUSH_SECONDS)
    _native.flush()
    # Registered first, so it runs after every handler of the script; a builtin, so that Ctrl-C finds no frame of ours.
    atexit.register(_native.flush)
    atexit.register(gpu_asked.at_exit)
    gpu_asked.watch()
    endings.watch()

    def child() -> None:
        own = _free_path(directory)
        _native.after_fork_child(own)
        if not spawns.state.starting:
            # Where it never comes to write, an empty file tells that there was such a process.
            _touch(own)

    os.register_at_fork(after_in_child=child)


def begin(kind: str) -> None:
    """Start to record, by hooks as soon as NumPy is imported, or by whatever rewritten modules report."""
    if not state.prepared:
        state.prepared = True
        _prepare(kind)
    _native.start()


def _prepare(kind: str) -> None:
    from ..learn import install as learn

    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    _native.on_library_code(package + os.sep, os.path.dirname(os.__file__) + os.sep)
    imports.time_libraries()
    imports.after("torch", _torch)
    imports.after("cupy", _cupy)
    for name in ("duckdb", "jax", "pandas", "polars", "tensorflow"):
        imports.after(name, _framework)
    learn.arm()
    if kind == "native":
        imports.after("numba", _framework)
        imports.after("numpy", _install)
        for name in ("numpy.fft", "numpy.linalg", "numpy.random"):
            imports.after(name, _rescan)
    else:
        from ..numpy import ast_recorder

        ast_recorder.rewrite_imports()
        imports.after("numpy", _know)
        _note_fallback()
    for name in imports.SCIPY:
        imports.after(name, _scipy)


def _install(_: str) -> None:
    """NumPy has just been imported: patch it, less what `BREAKEVEN_HOOKS` takes out (`-random,-alloc`)."""
    out = {word.strip().removeprefix("-") for word in os.environ.get(HOOKS, "").split(",") if word.strip()}
    going_on = _native.recording()
    if going_on:
        _native.stop()  # the tests of the hooks are none of the script's calls
    _native.install([name for name in _native.MECHANISMS if name not in out])
    _native.calibrate()
    _describe_numpy()
    if going_on:
        _native.start()


def _know(_: str) -> None:
    """The same for the AST recorder, which patches nothing."""
    _native.know_arrays()
    _describe_numpy()


def _describe_numpy() -> None:
    _native.set_program(f'{{"cpu_cores": {_cores()}}}')
    if (threads := _blas_threads()) is not None:
        _native.set_program(f'{{"blas_threads": {threads}}}')
    program.add_version("numpy", sys.modules["numpy"].__version__)


def _cores() -> str:
    """Cores that the process may use, as JSON: Linux says which logical CPUs are of one."""
    try:
        of_one = set()
        for cpu in os.sched_getaffinity(0):
            with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") as file:
                of_one.add(file.read())
        return str(len(of_one))
    except (OSError, AttributeError):
        return "null"


def _blas_threads() -> int | None:
    """What the environment allows BLAS, which reads it when NumPy loads it; `None` where it says nothing."""
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        value = os.environ.get(name, "").split(",")[0].strip()
        if value.isdecimal() and 0 < int(value) < 1 << 16:
            return int(value)
    return None


def _torch(_: str) -> None:
    going_on = _native.recording()
    if going_on:
        _native.stop()  # what we import is none of the script's
    try:
        from ..torch import install

        install.install()
    finally:
        if going_on:
            _native.start()


def _cupy(_: str) -> None:
    from ..cupy import offer

    offer.real()


def _framework(name: str) -> None:
    """A framework has just been imported that has a recorder of its own, in a folder of the same name. Where that
    cannot record it, what it computes here or on a GPU would count as the script's own code; a library that tries what
    is there uses it for its own ends."""
    from ..cupy.offer import asked_by_user

    asked = asked_by_user()
    going_on = _native.recording()
    if going_on:
        _native.stop()  # what hooking it takes is none of the script's
    try:
        install = __import__(f"breakeven.{name}.install", fromlist=("install",)).install
        why = install(name)
    finally:
        if going_on:
            _native.start()
    if asked or why is None:
        program.add_version(name, str(getattr(sys.modules[name], "__version__", "")))
    if asked and why is not None:
        _native.unseen("gpu-not-watched", f"what {name} computed was not seen: {why}")


def _rescan(_: str) -> None:
    """Parts of NumPy that it imports at their first use; before `_install` there is nothing to do."""
    _native.rescan()


def _scipy(module: str) -> None:
    from ..scipy import named_ops

    named_ops.hook(module)
    _native.rescan()


def _note_fallback() -> None:
    if os.environ.get(RECORDER, "native") == "native" and (why := _native.unsupported()) is not None:
        _native.unseen("recorder-fallback", why)


def _free_path(directory: str) -> str:
    """`<pid>.breakeven.json`; with a number after it when the pid has a file, as after `os.execv`."""
    stem = f"{directory}/{os.getpid()}"
    path, number = f"{stem}.breakeven.json", 1
    while os.path.exists(path):
        path, number = f"{stem}-{number}.breakeven.json", number + 1
    return path


def _touch(path: str) -> None:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except OSError:
        pass  # as little as a file that is written later
