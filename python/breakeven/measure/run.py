"""`python -m breakeven.measure.run --side SIDE --out DIR [--repeat N] -- SCRIPT ARGS…`: one side, in its own process.

The script runs 1 + N times in this process, each time in a copy of its folder: the first run is cold, with imports and
the start of the GPU; the others are warm. What was measured is in DIR/result.json after each run.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not getattr(sys.flags, "safe_path", sys.flags.isolated):
    del sys.path[0]  # the working folder: modules of the user's are not ours to import

import json
import os
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from . import clocks, energy, kept, sandbox

#: Where the GPU is out of sight.
HIDDEN = {
    "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "ROCR_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu",
    "ONEAPI_DEVICE_SELECTOR": "*:cpu",
}  # fmt: skip
LIBRARIES = ("numpy", "scipy", "cupy", "torch", "jax", "tensorflow")
#: PyTorch's own seed in a fresh process.
_TORCH_SEED = 67280421310721
#: The side cannot be run here.
NO_GPU = 4
#: Copies of the folder, or results, could not be written.
CANNOT = 5
_INTERRUPTED = 130
#: Where a first run took so long, s, the script runs only once more unless told otherwise.
_LONG = 60.0


class Side:
    """One side of the comparison."""

    def __init__(self, options: dict[str, str], command: list[str]) -> None:
        self.side = options["side"]
        self.out = Path(options["out"]).resolve()
        self.repeat = int(options.get("repeat", "3"))
        self.may_shorten = "repeat" not in options
        self.by_line = options.get("lines") == "1"
        self.script, self.arguments = Path(command[0]).absolute(), command[1:]
        self.here = os.getcwd()
        #: What the start of CuPy took, s: part of the first run.
        self.started = 0.0
        self.told: dict[str, Any] = {"side": self.side, "runs": [], "notes": []}

    def prepare(self) -> None:
        """Set the process up for the side; raises RuntimeError where there is no GPU for it."""
        os.environ.setdefault("MPLBACKEND", "Agg")
        if self.side in ("cpu", "float64", "record"):
            os.environ.update(HIDDEN)
        if self.side == "float64":
            from . import float64

            float64.install(self.out)
            sys.dont_write_bytecode = True
        if self.side in ("port", "check-port"):
            from .port import device, imports

            began = clocks.now()
            imports.install(stand_in=self.side == "check-port")
            self.started = clocks.now() - began
            device.state.by_line = self.by_line
            self.told["stand_in"] = device.state.stand_in
        elif self.side == "cpu":
            from .port import device

            # A script for CuPy has no CPU side of its own: with the stand-in, NumPy computes.
            device.offer_stand_in(for_all=False)

    def run(self) -> int:
        """All runs; the exit code of the process."""
        self.prepare()
        clocks.install()
        counter = energy.Counter() if self.side in ("gpu", "port") else None
        code = 0
        for number in range(1 + self.repeat):
            before = counter.joules() if counter is not None else None
            run = self.once(number)
            after = counter.joules() if counter is not None else None
            if before is not None and after is not None:
                run["joules"] = after - before
            self.told["runs"].append(run)
            self.told["libraries"] = [name for name in LIBRARIES if name in sys.modules]
            self.told["device"] = device_name(self.side)
            self.told["gpu_used"] = gpu_used(self.side)
            self.write()
            code = run["exit"]
            if code != 0 or run.get("interrupted"):
                break
            if number == 0 and self.may_shorten and run["seconds"] > _LONG:
                self.told["notes"].append("a long script: run once more, not three times (`--repeat N` for more)")
                self.repeat = 1
            if number >= self.repeat:
                break
        return _INTERRUPTED if self.told["runs"][-1].get("interrupted") else 0

    def once(self, number: int) -> dict[str, Any]:
        """One run of the script; what came of it."""
        os.chdir(self.here)
        folder = self.out / f"run-{number}"
        box = sandbox.Sandbox(folder, self.script)
        box.protect()
        if box.linked and number == 0:
            self.told["notes"].append("the folder is large: part of it was linked, not copied")
        os.chdir(box.cwd)
        self._forget(number)
        main = ModuleType("__main__")
        main.__dict__.update(__file__=str(box.script), __builtins__=__builtins__, __annotations__={}, __cached__=None)
        sys.modules["__main__"] = main
        sys.argv[:] = [str(box.script), *self.arguments]
        if number:
            del sys.path[0]
        sys.path.insert(0, str(box.script.parent))
        run: dict[str, Any] = {"root": str(box.cwd), "original": str(box.original)}
        with _Output(folder) as output:
            began = clocks.now()
            exit_code, interrupted = _execute(box.script, main.__dict__, self.side == "float64")
            clocks.wait()
            run["seconds"] = clocks.now() - began + (self.started if number == 0 else 0.0)
        run.update(stdout=str(output.out), stderr=str(output.err), exit=exit_code)
        if interrupted:
            run["interrupted"] = True
        self._count(run)
        if number < 2 and not interrupted:
            run["arrays"], run["left_out"] = kept.keep(main.__dict__, folder / "arrays")
            run["files"] = box.written()
        return run

    def _count(self, run: dict[str, Any]) -> None:
        if self.side in ("port", "check-port"):
            from .port.counts import counts

            run["port"] = counts.told()

    def _forget(self, number: int) -> None:
        """Take the script's own modules out, and set back what PyTorch drew, before another run."""
        if self.side in ("port", "check-port"):
            from .port.counts import counts

            counts.clear()  # what was copied to be kept is none of the script's
        root = str(self.out)
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None) or "").startswith(root):
                del sys.modules[name]
        if number and (torch := sys.modules.get("torch")) is not None:
            torch.manual_seed(_TORCH_SEED)

    def write(self) -> None:
        """What is known so far, whole or not at all."""
        path = self.out / "result.json"
        beside = path.with_suffix(".part")
        beside.write_text(json.dumps(self.told))
        os.replace(beside, path)


class _Output:
    """Standard output and error of one run, in files; its input is empty."""

    def __init__(self, folder: Path) -> None:
        self.out, self.err = folder / "stdout", folder / "stderr"
        self._kept: list[int] = []

    def __enter__(self) -> _Output:
        _flush()
        self._kept = [os.dup(fd) for fd in (0, 1, 2)]
        with open(os.devnull, "rb") as nothing, open(self.out, "wb") as out, open(self.err, "wb") as err:
            for fd, file in enumerate((nothing, out, err)):
                os.dup2(file.fileno(), fd)
        return self

    def __exit__(self, *error: object) -> None:
        _flush()
        for fd, kept_fd in enumerate(self._kept):
            os.dup2(kept_fd, fd)
            os.close(kept_fd)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # the script closed it, or the disk is full
            pass


def _execute(script: Path, names: dict[str, Any], in_float64: bool) -> tuple[int, bool]:
    """Run the script; its exit code, and whether Ctrl-C ended it."""
    try:
        source: Any = script.read_bytes()
        if in_float64:
            from . import float64

            source = float64.parsed(source, str(script))
        code = compile(source, str(script), "exec", dont_inherit=True)
        exec(code, names)
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return (ended.code or 0) & 0xFF, False
        print(ended.code, file=sys.stderr)
        return 1, False
    except KeyboardInterrupt:
        return _INTERRUPTED, True
    except BaseException as error:
        place = error.__traceback__
        while place is not None and place.tb_frame.f_code.co_filename == __file__:
            place = place.tb_next
        traceback.print_exception(type(error), error, place)
        return 1, False
    return 0, False


def device_name(side: str) -> str | None:
    """What the GPU calls itself; None on the CPU side, and where no library says."""
    if side not in ("gpu", "port"):
        return None
    try:
        if (torch := sys.modules.get("torch")) is not None and torch.cuda.is_available():
            return str(torch.cuda.get_device_name())
        if (cupy := sys.modules.get("cupy")) is not None:
            name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"]
            return name.decode() if isinstance(name, bytes) else str(name)
        if (jax := sys.modules.get("jax")) is not None and jax.default_backend() != "cpu":
            return str(jax.devices()[0].device_kind)
        if (tensorflow := sys.modules.get("tensorflow")) is not None:
            found = tensorflow.config.list_physical_devices("GPU")
            return str(tensorflow.config.experimental.get_device_details(found[0])["device_name"]) if found else None
    except Exception:
        return None
    return None


def gpu_used(side: str) -> bool | None:
    """Whether a library has had memory on a GPU; None where none says."""
    if side not in ("gpu", "port"):
        return None
    try:
        if (torch := sys.modules.get("torch")) is not None:
            return bool(torch.cuda.is_available() and torch.cuda.max_memory_allocated() > 0)
        if (cupy := sys.modules.get("cupy")) is not None:
            return bool(cupy.get_default_memory_pool().total_bytes() > 0)
        if (jax := sys.modules.get("jax")) is not None:
            return bool(jax.default_backend() != "cpu")
        if (tensorflow := sys.modules.get("tensorflow")) is not None:
            return bool(tensorflow.config.list_logical_devices("GPU"))
    except Exception:
        return None
    return None


def record(side: Side) -> None:
    """Become the recorder, with the script in a copy of its folder."""
    os.environ.update(HIDDEN)
    os.environ["BREAKEVEN_RECORD_DIR"] = str(side.out / "record")
    (side.out / "record").mkdir()
    box = sandbox.Sandbox(side.out / "run-0", side.script)
    os.chdir(box.cwd)
    os.execv(sys.executable, [sys.executable, "-m", "breakeven._run", str(box.script), *side.arguments])


def main(arguments: list[str]) -> int:
    """The entry of `python -m breakeven.measure.run`."""
    split = arguments.index("--")
    options = dict(word.removeprefix("--").split("=", 1) for word in arguments[:split])
    side = Side(options, arguments[split + 1 :])
    side.out.mkdir(parents=True, exist_ok=True)
    try:
        if side.side == "record":
            record(side)
        return side.run()
    except RuntimeError as error:
        side.told["refused"] = str(error)
        side.write()
        return NO_GPU
    except KeyboardInterrupt:  # between two runs
        return _INTERRUPTED
    except OSError as error:  # a disk that is full, a folder that cannot be read
        print(f"{error.filename or side.out}: {error.strerror or error}", file=sys.stderr)
        return CANNOT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
