"""Steps of whole networks on this machine's GPU: `python accuracy/measure/networks.py` measures all that are listed.

With a name, a batch and a precision it is an ordinary program that takes its own time, which can be recorded on a machine
without a GPU: `breakeven run --pretend-gpu h100-sxm -- accuracy/measure/networks.py --only resnet50-train-f32-64`.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).parent))

from backends import driver

COLUMNS = ("network", "phase", "precision", "batch", "step_ms", "step_ms_least", "busy_ms", "kernels", "peak_bytes", "gpu",
           "driver", "versions", "python", "host", "date", "note")
NODES = ("network", "phase", "precision", "batch", "op", "shapes", "calls", "busy_us")


class Run(NamedTuple):
    """One line of the list. `precision`: `f32` (as PyTorch is set up: convolutions in TF32), `strict` (no TF32), `amp`
    (autocast to bf16), `nhwc` (that and channels last)."""

    network: str
    phase: str
    precision: str
    batch: int

    def __str__(self) -> str:
        return "-".join(map(str, self))


RUNS = [
    Run("linear", "train", "f32", 100),
    Run("resnet50", "train", "f32", 64), Run("resnet50", "train", "strict", 64), Run("resnet50", "train", "amp", 64),
    Run("resnet50", "train", "nhwc", 64), Run("resnet50", "train", "f32", 256), Run("resnet50", "inf", "f32", 64),
    Run("resnet50", "inf", "strict", 1), Run("resnet18", "train", "strict", 128), Run("vgg16", "train", "f32", 32),
    Run("vgg16", "train", "strict", 32), Run("densenet121", "train", "f32", 32), Run("mobilenet_v3_large", "train", "f32", 128),
    Run("shufflenet_v2_x1_0", "train", "f32", 256), Run("efficientnet_b0", "inf", "f32", 64),
    Run("convnext_tiny", "train", "amp", 32), Run("unet", "train", "f32", 8), Run("vit_b_16", "train", "f32", 32),
    Run("vit_b_16", "train", "amp", 64), Run("bert", "train", "f32", 16), Run("bert", "train", "amp", 32),
    Run("bert", "inf", "f32", 32), Run("gpt2", "train", "f32", 4), Run("gpt2", "train", "amp", 8), Run("gpt2", "inf", "amp", 8),
    Run("lstm", "train", "f32", 64),
]


def network(name: str) -> tuple[nn.Module, tuple[int, ...], int, bool]:
    """A network, the shape of one sample, its classes, and whether samples are numbers of words."""
    if name == "linear":
        return nn.Linear(10, 2), (10,), 2, False
    if name == "unet":
        return UNet(), (3, 256, 256), 0, False
    if name == "lstm":
        return Words(), (128,), 10_000, True
    if name in ("bert", "gpt2"):
        import transformers

        if name == "bert":
            model = transformers.BertForMaskedLM(transformers.BertConfig(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
            return model, (512,), 30_522, True
        return transformers.GPT2LMHeadModel(transformers.GPT2Config(resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)), (1024,), 50_257, True
    import torchvision

    more = {"init_weights": False} if name == "vgg16" else {}
    return getattr(torchvision.models, name)(weights=None, **more), (3, 224, 224), 1000, False


class UNet(nn.Module):
    """Four levels of two 3×3 convolutions (Ronneberger et al. 2015), padded, with batch-norm."""

    def __init__(self) -> None:
        super().__init__()
        widths = [64, 128, 256, 512, 1024]
        self.down = nn.ModuleList(_double(a, b) for a, b in zip([3, *widths], widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(widths, widths[1:]))
        self.join = nn.ModuleList(_double(2 * a, a) for a in widths[:-1])
        self.head = nn.Conv2d(widths[0], 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        seen = []
        for i, block in enumerate(self.down):
            x = block(x if i == 0 else nn.functional.max_pool2d(x, 2))
            seen.append(x)
        for i in reversed(range(len(self.up))):
            x = self.join[i](torch.cat([seen[i], self.up[i](x)], 1))
        return self.head(x)


def _double(a: int, b: int) -> nn.Module:
    layers = [nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(True), nn.Conv2d(b, b, 3, padding=1)]
    return nn.Sequential(*layers, nn.BatchNorm2d(b), nn.ReLU(True))


class Words(nn.Module):
    """Words as numbers, a two-layer LSTM, a score for each word."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.lstm, self.head = nn.Embedding(10_000, 512), nn.LSTM(512, 512, 2, batch_first=True), nn.Linear(512, 10_000)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.lstm(self.words(x))[0])


def prepared(run: Run, device: str) -> Callable[[], object]:
    """One step: forward, and in training backward and the optimizer, on inputs that stay on the device."""
    torch.manual_seed(0)
    torch.backends.cudnn.allow_tf32 = run.precision != "strict"
    model, shape, classes, words = network(run.network)
    model = model.to(device)
    if run.precision == "nhwc":
        model = model.to(memory_format=torch.channels_last)
    x = torch.randint(0, classes, (run.batch, *shape), device=device) if words else torch.rand(run.batch, *shape, device=device)
    if run.precision == "nhwc":
        x = x.to(memory_format=torch.channels_last)
    labels = (run.batch, *shape) if words else (run.batch,)
    y = torch.randint(0, classes, labels, device=device) if classes else torch.rand(run.batch, 1, *shape[1:], device=device)
    cast = torch.autocast(device, torch.bfloat16, enabled=run.precision in ("amp", "nhwc"))

    def forward() -> Tensor:
        with cast:
            out = model(x)
            return out.logits if hasattr(out, "logits") else out

    if run.phase == "inf":
        model.eval()
        return torch.inference_mode()(forward)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)

    def step() -> None:
        optimizer.zero_grad()
        out = forward()
        if not classes:
            loss = nn.functional.binary_cross_entropy_with_logits(out.float(), y)
        else:
            loss = nn.functional.cross_entropy(out.reshape(-1, classes).float(), y.reshape(-1))
        loss.backward()
        optimizer.step()

    return step


def timed(step: Callable[[], object], steps: int) -> float:
    """Seconds of a step."""
    wait = torch.cuda.synchronize if torch.cuda.is_available() else lambda: None
    wait()
    start = time.perf_counter()
    for _ in range(steps):
        step()
    wait()
    return (time.perf_counter() - start) / steps


def measure(run: Run, nodes: list[dict[str, object]]) -> dict[str, object]:
    """A row of the file, and in `nodes` what each op of one step took."""
    from torch.profiler import ProfilerActivity, profile

    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    step = prepared(run, "cuda")
    for _ in range(5):
        step()
    torch.cuda.reset_peak_memory_stats()
    once = timed(step, 2)
    steps = max(2, min(200, int(0.3 / once)))
    seconds = sorted(timed(step, steps) for _ in range(5))
    peak = torch.cuda.max_memory_allocated() - before
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as profiled:
        step()
        torch.cuda.synchronize()
    kernels, busy = 0, 0.0
    for event in profiled.events():
        if event.device_type.name == "CUDA":
            kernels, busy = kernels + 1, busy + event.device_time_total
    named = dict(zip(("network", "phase", "precision", "batch"), run))
    for row in profiled.key_averages(group_by_input_shape=True):
        if row.self_device_time_total > 0 and row.device_type.name == "CPU":
            nodes.append({**named, "op": row.key, "shapes": str(row.input_shapes).replace(" ", ""), "calls": row.count,
                          "busy_us": round(row.self_device_time_total, 2)})
    return {"step_ms": round(seconds[2] * 1e3, 4), "step_ms_least": round(seconds[0] * 1e3, 4), "kernels": kernels,
            "busy_ms": round(busy * 1e-3, 4), "peak_bytes": peak}


def program(run: Run, steps: int) -> None:
    """One network as anyone would time it."""
    step = prepared(run, "cuda" if torch.cuda.is_available() else "cpu")
    step()
    step()
    print(f"{run} {timed(step, steps) * 1e3:.4f} ms a step")


def main() -> int:
    """The command; returns its exit code."""
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", choices=list(map(str, RUNS)), metavar="RUN", help=", ".join(map(str, RUNS)))
    p.add_argument("--output", type=Path, default=Path(f"networks-{platform.node()}.csv"))
    p.add_argument("--steps", type=int, default=20, help="steps that are timed with --only [20]")
    args = p.parse_args()
    if args.only:
        program(next(run for run in RUNS if str(run) == args.only), args.steps)
        return 0
    if not torch.cuda.is_available():
        print("error: no GPU that PyTorch can use\n hint: with --only one network runs on the CPU", file=sys.stderr)
        return 2
    rows: list[dict[str, object]] = []
    nodes: list[dict[str, object]] = []
    machine = {"gpu": torch.cuda.get_device_name(), "versions": f"torch {torch.__version__} cuda {torch.version.cuda}",
               "driver": driver(), "python": platform.python_version(), "host": platform.node(),
               "date": datetime.date.today().isoformat()}
    for run in RUNS:
        row: dict[str, object] = {**dict(zip(COLUMNS, run)), **machine}
        try:
            row |= measure(run, nodes)
        except Exception as error:  # A network that this version lacks or that does not fit: the rest goes on.
            row["note"] = f"{type(error).__name__}: {str(error)[:120]}".replace("\n", " ")
        rows.append(row)
        print(run, row.get("step_ms"), row.get("note", ""), file=sys.stderr)
        _write(args.output, COLUMNS, rows)
        _write(args.output.with_suffix(".nodes.csv"), NODES, nodes)
    return 0


def _write(path: Path, columns: tuple[str, ...], rows: list[dict[str, object]]) -> None:
    temporary = path.with_name(path.name + ".new")
    with temporary.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    os.replace(temporary, path)


if __name__ == "__main__":
    sys.exit(main())
