"""Coverage of scripts whose time is in compiled code, beside what py-spy sees of the same run.

py-spy (`--native --idle`) looks at the stack of the recorded process a hundred times a second. A sample is *not
understood* where native frames that are no part of CPython follow its last Python frame, *understood* where these
are NumPy's and the script itself called them. Samples outside the script, in imports and in the recorder are left
out.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).parent / "compiled"
BIN = Path(sys.executable).parent

PYTHON_FRAME = re.compile(r"(\.py|>):\d+\)$")
#: What is part of CPython or of the C library, by the file or the library that py-spy names.
CPYTHON = re.compile(
    r"\(((libpython|python3|libc[.-]|ld-|libpthread|libstdc)[^()]*"
    r"|(ceval|call|abstract|\w*object|gcmodule|import|main|pythonrun|frame|obmalloc|marshal|bltinmodule"
    r"|getargs|_json|\w*module"
    r"|\w*io|codeobject|errors|compile|parser|pegen\w*|symtable|ast|tokenizer|_pickle|fileutils|exceptions"
    r"|py\w*|thread\w*"
    r"|specialize|_ctypes|callproc|cfield|stgdict|callbacks)\.[ch]:\d+)\)$"
)
NUMPY = re.compile(r"_umath|openblas|mtrand|_generator|_pcg|_pocketfft|_bounded|bit_gen")


def sampled(raw: str, script: str) -> Counter[str]:
    """Samples by kind: `host`, `op`, `unseen`."""
    kinds: Counter[str] = Counter()
    for line in raw.splitlines():
        stack, _, count = line.rpartition(" ")
        frames = stack.split(";")
        if script not in stack or "importlib" in stack:
            continue
        last = max((i for i, frame in enumerate(frames) if PYTHON_FRAME.search(frame)), default=-1)
        native = [f for f in frames[last + 1 :] if "breakeven" not in f and "_native." not in f
            and not CPYTHON.search(f)]
        places = [found.group(1) for f in native if (found := re.search(r"\(([^()]*)\)$", f))]
        if not places:
            kinds["host"] += int(count)
        elif script in frames[last] and NUMPY.search(places[0]):
            kinds["op"] += int(count)
        else:
            kinds["unseen"] += int(count)
    return kinds


def measured(script: Path, folder: Path) -> tuple[Counter[str], dict[str, Any]]:
    """What py-spy and breakeven say of one run."""
    raw, record, report = folder / "raw", folder / "record", folder / "report.json"
    record.mkdir()
    spy = [str(BIN / "py-spy"), "record", "--native", "--idle", "-r", "100", "-f", "raw", "-o", str(raw), "--"]
    subprocess.run(
        [*spy, sys.executable, "-m", "breakeven._run", script.name],
        cwd=script.parent, check=True, capture_output=True, env={**os.environ, "BREAKEVEN_RECORD_DIR": str(record)},
    )
    workload = max(record.iterdir(), key=lambda path: path.stat().st_size)
    show = [str(BIN / "breakeven"), "show", str(workload), "--format", "json", "--output", str(report)]
    subprocess.run(show, check=True, capture_output=True)
    return sampled(raw.read_text(), script.name), json.loads(report.read_text())


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("scripts", nargs="*", type=Path, default=sorted(SCRIPTS.glob("*.py")))
    print("| script | verdict | largest part | coverage, % | py-spy, % | not understood of the run, % | py-spy, % |")
    print("|---|---|---|---|---|---|---|")
    for script in arguments.parse_args().scripts:
        with tempfile.TemporaryDirectory() as folder:
            kinds, answer = measured(script.resolve(), Path(folder))
        if not kinds:
            print(f"| {script.stem} | py-spy saw nothing: once more |", flush=True)
            continue
        unseen = sum(row["time_s"]["p50"] for row in answer["not_understood"])
        run = answer["baseline"]["time_s"]["p50"] - answer["baseline"]["startup_s"]["p50"]
        largest = answer["not_understood"][0] if answer["not_understood"] else {}
        cells = [
            script.stem, answer["summary"]["verdict"], f"{largest.get('library')}: {largest.get('function')}",
            *(f"{100 * share:.0f}" for share in (
                answer["workload"]["coverage"], kinds["op"] / max(kinds["op"] + kinds["unseen"], 1),
                unseen / run, kinds["unseen"] / max(kinds.total(), 1),
            )),
        ]
        print("|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
