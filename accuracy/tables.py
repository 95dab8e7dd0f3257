"""Writes the tables of README.md from the ledgers: `python accuracy/tables.py`; `--check` says whether they differ."""

from __future__ import annotations

import collections
import json
import pathlib
import re
import statistics
import sys
from typing import Any, Iterable

HERE = pathlib.Path(__file__).parent
Row = dict[str, Any]
KINDS = ("gpu", "generation")


def percent(share: float, digits: int = 1) -> str:
    return "–" if share != share else f"{100 * share:.{digits}f}"


def signed(share: float, digits: int = 1) -> str:
    return f"{100 * share:+.{digits}f}"


def error(row: Row, key: str = "p50_ms") -> float:
    return float(row[key] / row["measured_ms"] - 1)


def mean_error(rows: Iterable[Row], key: str = "p50_ms") -> float:
    errors = [abs(error(row, key)) for row in rows if row[key] is not None]
    return statistics.mean(errors) if errors else float("nan")


def bias(rows: Iterable[Row]) -> float:
    return statistics.median(error(row) for row in rows)


def inside(rows: Iterable[Row]) -> int:
    return sum(row["p10_ms"] <= row["measured_ms"] <= row["p90_ms"] for row in rows)


def quantile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[round(share * (len(ordered) - 1))]


def groups(rows: Iterable[Row], *keys: str) -> dict[tuple[Any, ...], list[Row]]:
    found: dict[tuple[Any, ...], list[Row]] = collections.defaultdict(list)
    for row in rows:
        found[tuple(row[key] for key in keys)].append(row)
    return dict(sorted(found.items()))


def table(heads: list[str], rows: Iterable[list[Any]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def networks(ledger: Row) -> str:
    heads = ["GPU left out", "runs", "mean error %", "bias %", "in the 80 % interval", "NeuSight %"]
    rows = groups(ledger["networks"], "gpu").items()
    cells = [
        [
            gpu,
            len(runs),
            percent(mean_error(runs)),
            signed(bias(runs)),
            inside(runs),
            percent(mean_error(runs, "neusight_ms")),
        ]
        for (gpu,), runs in rows
    ]
    return table(heads, cells)


BOARDS = {"rtx-3090": "RTX 3090", "rtx-4090": "RTX 4090"}
LAYOUTS = {"nchw": "NCHW", "nhwc": "channels last"}
PHASES = {"infer": "inference", "train": "training"}


def steps(ledger: Row) -> str:
    heads = ["board, layout, phase", "networks", "mean error %", "p90 %", "bias %", "in the 80 % interval", "width"]
    cells = []
    for (gpu, mode, phase, layout), runs in groups(ledger["steps"], "gpu", "mode", "phase", "layout").items():
        name = f"{BOARDS[gpu]}, {LAYOUTS[layout]}, {PHASES[phase]}" + (", compiled" if mode == "compile" else "")
        worst = quantile((abs(error(run)) for run in runs), 0.9)
        width = statistics.median(run["p90_ms"] / run["p10_ms"] for run in runs)
        cells.append(
            [
                name,
                len(runs),
                percent(mean_error(runs)),
                percent(worst),
                signed(bias(runs)),
                inside(runs),
                f"{width:.2f}",
                percent(mean_error(runs, "roofline_ms")),
            ]
        )
    return table([*heads, "roofline's mean error %"], cells)


def kernels(rows: Iterable[Row]) -> str:
    heads = ["op", "kernels", "median error %, best–worst GPU", "bias %", "in the 80 % interval"]
    cells = []
    for (op, dtype), cell in groups(rows, "op", "dtype").items():
        cell = [row for row in cell if row["n_above_floor"]]
        if not cell:
            continue
        count = sum(row["n_above_floor"] for row in cell)
        errors = sorted(row["median_ape"] for row in cell)
        biases = sorted(row["bias"] for row in cell)
        within = sum(row["coverage80"] * row["n_above_floor"] for row in cell) / count
        roofline = statistics.mean(row["roofline_median_ape"] for row in cell)
        cells.append(
            [
                op if dtype == "f32" else f"{op} {dtype}",
                count,
                f"{percent(errors[0], 0)}–{percent(errors[-1], 0)}",
                f"{signed(biases[0], 0)} … {signed(biases[-1], 0)}",
                percent(within, 0),
                percent(roofline, 0),
            ]
        )
    return table([*heads, "roofline's median error %"], cells)


def summary(ledger: Row) -> str:
    s = ledger["summary"]
    return (
        f"Whole networks (fp32, PyTorch eager, {len(ledger['networks'])} runs): mean error {percent(s['networks_mean_ape'])} %, median "
        f"{percent(s['networks_median_ape'])} %, p90 {percent(s['networks_p90_ape'])} %. "
        f"{percent(s['networks_coverage80'], 0)} % lie within the 80 % interval, whose median width (p90 ÷ p10) is "
        f"{s['networks_width80']:.2f}. On the same rows NeuSight is off by {percent(s['networks_neusight_mean_ape'])} %, a plain "
        f"roofline by {percent(s['networks_roofline_mean_ape'], 0)} %."
    )


def kernel_summary(ledger: Row) -> str:
    s = ledger["summary"]
    return (
        f"Kernels above the launch floor: median error {percent(s['kernels_median_ape'])} %, {percent(s['kernels_coverage80'], 0)} % "
        f"within the interval, whose median width is {s['kernels_width80']:.2f}; its pinball loss is "
        f"{s['kernels_pinball'] / s['kernels_pinball_constant']:.2f} of that of an interval of constant width."
    )


def jobs(ledger: Row) -> str:
    heads = ["ResNet-50, fp32, training", "runs", "mean error %", "bias %", "in the 80 % interval"]
    cells = [
        [gpu, len(runs), percent(mean_error(runs)), signed(bias(runs)), inside(runs)]
        for (gpu,), runs in groups(ledger["jobs"], "gpu").items()
    ]
    return table(heads, cells)


def folds(ledgers: dict[str, Row]) -> str:
    """The same figures by what was left out: a board's chip, or its generation."""
    heads = ["figure", *(f"without the {'chip' if kind == 'gpu' else kind}" for kind in KINDS), "roofline"]
    cells: list[list[Any]] = []
    first = ledgers["gpu"]
    for (gpu,), runs in groups(first["networks"], "gpu").items():
        others = [[run for run in ledgers[kind]["networks"] if run["gpu"] == gpu] for kind in KINDS]
        figures = [f"{percent(mean_error(rows))} ({signed(bias(rows))})" for rows in others]
        cells.append([f"networks, {gpu}", *figures, percent(mean_error(runs, "roofline_ms"))])
    keys = ("gpu", "mode", "phase", "layout")
    for (gpu, mode, phase, layout), runs in groups(first["steps"], *keys).items():
        others = [groups(ledgers[kind]["steps"], *keys)[gpu, mode, phase, layout] for kind in KINDS]
        name = f"{BOARDS[gpu]}, {LAYOUTS[layout]}, {PHASES[phase]}" + (", compiled" if mode == "compile" else "")
        figures = [f"{percent(mean_error(rows))} ({signed(bias(rows))})" for rows in others]
        cells.append([name, *figures, percent(mean_error(runs, "roofline_ms"))])
    medians = [percent(ledgers[kind]["summary"]["kernels_median_ape"]) for kind in KINDS]
    cells.append(["kernels, median", *medians, ""])
    return table(heads, cells)


def sections() -> dict[str, str]:
    names = {"gpu": "ledger.json", "generation": "ledger-generations.json"}
    ledgers = {kind: json.loads((HERE / name).read_text()) for kind, name in names.items()}
    ledger = ledgers["gpu"]
    in_files = lambda *files: (row for row in ledger["kernels"] if row["file"].endswith(files))  # noqa: E731
    return {
        "networks": f"{summary(ledger)}\n\n{networks(ledger)}",
        "steps": steps(ledger),
        "jobs": jobs(ledger),
        "kernels": f"{kernel_summary(ledger)}\n\n"
        + kernels(in_files("fp32_kernels.parquet", "lowprecision_gemm.parquet", "fp16_llm_ops.parquet")),
        "nodes": kernels(in_files("networks/traces")),
        "convolutions": kernels(in_files("h100-sxm-convolutions.csv")),
        "deepbench": kernels(in_files("deepbench_nv_rows_raw.csv")),
        "folds": folds(ledgers),
    }


def main() -> None:
    page = HERE / "README.md"
    before = text = page.read_text()
    for name, section in sections().items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text, found = pattern.subn(lambda match, section=section: f"{match[1]}{section}\n{match[2]}", text)
        if found != 1:
            sys.exit(f"README.md has {found} places for `{name}`, not one: <!-- {name} --> … <!-- end -->")
    if "--check" in sys.argv[1:]:
        sys.exit("README.md differs from the ledgers: run accuracy/tables.py" if text != before else 0)
    page.write_text(text)


if __name__ == "__main__":
    main()
