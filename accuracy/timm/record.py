"""Record each network of `networks/image_amp.csv` as a GPU runs it: `python accuracy/timm/record.py --data DIR`.

Needs the package with PyTorch and timm in this Python's environment, and no GPU: tensors have no values. A recording is kept,
compressed, in `recordings/`; those that are there already are left alone.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
#: Shown to PyTorch, for it has much memory: what is recorded is the same on each of them.
GPU = "h200-sxm-141gb"


def name(row: dict[str, str]) -> str:
    """`resnet50-infer-nchw-1024-224`, of a row of the table."""
    return "-".join(row[key] for key in ("model", "phase", "layout", "batch", "img"))


def record(row: dict[str, str], to: Path) -> None:
    script = [str(HERE / "step.py"), row["model"], "--batch", row["batch"], "--size", row["img"]]
    script += ["--train"] if row["phase"] == "train" else []
    script += ["--channels-last"] if row["layout"] == "nhwc" else []
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder, "saved.json")
        command = ["breakeven", "run", "--pretend-gpu", GPU, "--fake", "--python", sys.executable]
        command += ["--quiet", "--gpu", GPU, "--save", str(saved)]
        done = subprocess.run([*command, *script], capture_output=True, text=True)
        if done.returncode:
            print(f"{to.name}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            return
        # Whoever records it has the script elsewhere.
        text = saved.read_text().replace(str(HERE), "accuracy/timm")
        to.write_bytes(gzip.compress(text.encode(), mtime=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with networks/image_amp.csv")
    parser.add_argument("--to", type=Path, default=HERE / "recordings")
    given = parser.parse_args()
    given.to.mkdir(exist_ok=True)
    with (given.data / "networks" / "image_amp.csv").open() as file:
        rows = {name(row): row for row in csv.DictReader(file)}
    for i, (named, row) in enumerate(rows.items(), 1):
        to = given.to / f"{named}.breakeven.json.gz"
        if not to.exists():
            print(f"{i} of {len(rows)}: {named}", file=sys.stderr)
            record(row, to)


if __name__ == "__main__":
    main()
