"""Programs of other projects, recorded and not: the same output, the same exit code, what is seen, what it costs.

    python bench/recorder/others.py [--keep FOLDER] [--only TEXT]

Fetches the source distributions that `others.csv` names from PyPI and runs the listed scripts four times each: twice
plain (what differs between those is the script's own doing), with native hooks, and with the rewriting recorder. The
packages themselves must be installed beside breakeven: `pip install -r bench/recorder/others.txt`.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse
import urllib.request
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
NOT_COMPUTING = ("view", "host_read", "host_only", "transfer", "synchronise")
# What a script prints differently each time by itself: times, addresses, unseeded draws.
VARIES = re.compile(rb"0x[0-9a-f]+|[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?")


def fetch(project: str, version: str, folder: Path) -> Path:
    """Where a source distribution lies, unpacked if it was not."""
    home = folder / f"{re.sub('[-_.]+', '_', project).lower()}-{version}"
    if not home.exists():
        page = f"https://pypi.org/pypi/{project}/json"
        with urllib.request.urlopen(page, timeout=60) as reply:
            files = json.load(reply)["releases"][version]
        url = next(f["url"] for f in files if f["packagetype"] == "sdist")
        with tempfile.TemporaryDirectory(dir=folder) as unpacked:
            with urllib.request.urlopen(urllib.parse.urljoin(page, url), timeout=300) as reply:
                with tarfile.open(fileobj=reply, mode="r|gz") as archive:
                    archive.extractall(unpacked, filter="data")
            next(Path(unpacked).iterdir()).rename(home)
    return home


def run(script: Path, folder: Path, recorder: str | None) -> tuple[int, bytes, bytes, float, Path]:
    """Exit code, output, errors, CPU seconds, folder of recordings."""
    work, record = folder / "work", folder / (recorder or "plain")
    work.mkdir(exist_ok=True)
    shutil.rmtree(record, ignore_errors=True)
    record.mkdir()
    environment = dict(os.environ, MPLBACKEND="Agg", PYTHONHASHSEED="0", PYTHONWARNINGS="ignore")
    command = [sys.executable, str(script)]
    if recorder:
        environment |= {"BREAKEVEN_RECORD_DIR": str(record), "BREAKEVEN_RECORDER": recorder}
        command = [sys.executable, "-m", "breakeven._run", str(script)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            command, cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=300
        )
    except subprocess.TimeoutExpired:
        return 124, b"", b"", 300.0, record
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.returncode, done.stdout, done.stderr, sum(after[:2]) - sum(before[:2]), record


def lines(record: Path) -> tuple[Counter[tuple[str, int]], Counter[tuple[str, int]], dict[str, float], set[str]]:
    """Array calls and their time by source line, what there was in all, and which recorders saw it."""
    calls: Counter[tuple[str, int]] = Counter()
    time: Counter[tuple[str, int]] = Counter()
    recorders: set[str] = set()
    total = {"understood": 0.0, "dark": 0.0, "events": 0.0, "startup": 0.0}
    for file in record.glob("*.breakeven.json"):
        workload = json.loads(file.read_text())
        total["events"] += workload["program"].get("events", 0)
        recorders.add(workload["program"].get("recorder", "unknown"))
        total["startup"] += workload["program"].get("startup_ns", 0) * 1e-9
        total["dark"] += sum(u.get("ns", 0) for u in workload.get("unseen", [])) * 1e-9
        for entry in workload["ops"]:
            family = entry["op"] if isinstance(entry["op"], str) else next(iter(entry["op"]))
            spent = entry.get("cpu_ns", 0)
            total["dark" if family == "opaque" else "understood"] += spent * 1e-9
            if family not in NOT_COMPUTING:
                site = workload["sites"][entry["site"]]
                calls[site["file"], site["line"]] += entry["count"]
                time[site["file"], site["line"]] += spent
    return calls, time, total, recorders


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--keep", type=Path, help="fetch into and record below this folder instead of a temporary one")
    parser.add_argument("--only", default="", help="scripts whose path contains this")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root = options.keep or Path(temporary)
        sources = root / "src"
        sources.mkdir(parents=True, exist_ok=True)
        seen_calls = all_calls = seen_time = all_time = 0.0
        changed, ratios = [], []
        print(f"{'script':64}{'plain s':>8}{'ratio':>7}{'events':>9}{'coverage':>9}{'calls':>8}{'time':>8}  same")
        with (HERE / "others.csv").open() as table:
            rows = [r for r in csv.DictReader(table) if options.only in r["script"]]
        if not rows:
            sys.exit(f"error: no script of others.csv contains {options.only!r}")
        for number, row in enumerate(rows):
            script = fetch(row["project"], row["version"], sources) / row["script"]
            folder = root / f"run{number}"
            folder.mkdir(exist_ok=True)
            first, again = run(script, folder, None), run(script, folder, None)
            native, rewritten = run(script, folder, "native"), run(script, folder, "ast")
            hooked, _, total, recorders = lines(native[4])
            by_line, time, _, _ = lines(rewritten[4])
            if any(recorder.endswith("-ast") for recorder in recorders):
                sys.exit("error: native hooks do not run on this Python and NumPy; `breakeven doctor` says where they "
                         "do")
            calls = sum(min(n, hooked[line]) for line, n in by_line.items())
            spent = sum(min(1.0, hooked[line] / n) * time[line] for line, n in by_line.items())
            seen_calls, all_calls = seen_calls + calls, all_calls + sum(by_line.values())
            seen_time, all_time = seen_time + spent, all_time + sum(time.values())
            told, fate = "", "yes"
            clean = VARIES.sub
            shown = [(o[0], o[1], o[2]) for o in (first, again, native, rewritten)]
            if len(set(shown)) > 1:
                shown, told = [(c, clean(b"#", out), clean(b"#", err)) for c, out, err in shown], " (but for numbers)"
            if shown[0] != shown[1]:
                fate, told = "varies by itself", ""
            elif len(set(shown)) > 1:
                fate = "NO"
                changed.append(row["script"])
            plain = min(first[3], again[3])
            ratios.append((native[3], plain))
            share = lambda part, whole: f"{part / whole:.1%}" if whole else "–"  # noqa: E731
            print(
                f"{row['project'] + ' ' + Path(row['script']).name:64}{plain:>8.2f}{native[3] / plain:>7.2f}"
                f"{total['events']:>9.0f}{share(total['understood'], total['understood'] + total['dark']):>9}"
                f"{share(calls, sum(by_line.values())):>8}{share(spent, sum(time.values())):>8}  {fate}{told}",
                flush=True,
            )
            for line, n in by_line.items():
                if hooked[line] < 0.97 * n and options.only:
                    print(f"    {line[0]}:{line[1]} {hooked[line]} of {n}")
        print(f"\n{len(rows)} scripts; seen of what the rewriting recorder sees: {seen_calls / all_calls:.2%} of "
              f"calls, {seen_time / all_time:.2%} of time")
        print(f"CPU time recorded ÷ plain, all together: {sum(r for r, _ in ratios) / sum(p for _, p in ratios):.3f}")
        print(f"differ from the plain run: {', '.join(changed) or 'none'}")


if __name__ == "__main__":
    main()
