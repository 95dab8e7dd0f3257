"""Eight threads of a million tiny operations each, recorded: none is lost or counted twice, and memory stays bounded.

    python bench/recorder/threads.py [--threads 8] [--rounds 1000000]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = """
import resource, sys, threading
import numpy as np

def work(n):
    a, b = np.ones(10), np.ones(10)
    for _ in range(n):
        np.add(a, b, out=a)

threads, rounds = int(sys.argv[1]), int(sys.argv[2])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
running = [threading.Thread(target=work, args=(rounds,)) for _ in range(threads)]
[t.start() for t in running]
[t.join() for t in running]
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=1_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "many.py")
        script.write_text(SCRIPT)
        env = os.environ | {"BREAKEVEN_RECORD_DIR": folder, "BREAKEVEN_RECORDER": "native"}
        command = [sys.executable, "-m", "breakeven._run", str(script), str(options.threads), str(options.rounds)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        [file] = Path(folder).glob("*.breakeven.json")
        workload = json.loads(file.read_text())
        counts = sorted(e["count"] for e in workload["ops"] if e["name"] == "numpy.add")
        print(f"{sys.version.split()[0]}: {counts} of {options.threads} × {options.rounds}")
        print(f"memory grew by {int(done.stdout) / 1024:.1f} MiB, the file has {file.stat().st_size} B")
        print("not seen:", [u["text"] for u in workload["unseen"]])
        sys.exit(counts != [options.rounds] * options.threads)


if __name__ == "__main__":
    main()
