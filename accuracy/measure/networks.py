"""Steps of whole networks on this machine's GPU: `python accuracy/measure/networks.py` measures all that are listed.

With a name, a batch and a precision it is an ordinary program that takes its own time, which can be recorded on a
machine without a GPU: `breakeven run --pretend-gpu h100-sxm -- accuracy/measure/networks.py --only
resnet50-train-f32-64`.
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

COLUMNS = ("network", "phase", "precision", "batch", "step_ms", "step_ms_least", "busy_ms", "kernels", "peak_bytes",
    "gpu",
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
    Run("vgg16", "train", "strict", 32), Run("densenet121", "train", "f32", 32), Run("mobilenet_v3_large", "train",
    "f32", 128),
    Run("shufflenet_v2_x1_0", "train", "f32", 256), Run("efficientnet_b0", "inf", "f32", 64),
    Run("convnext_tiny", "train", "amp", 32), Run("unet", "train", "f32", 8), Run("vit_b_16", "train", "f32", 32),
    Run("vit_b_16", "train", "amp", 64), Run("bert", "train", "f32", 16), Run("bert", "train", "amp", 32),
    Run("bert", "inf", "f32", 32), Run("gpt2", "train", "f32", 4), Run("gpt2", "train", "amp", 8), Run("gpt2", "inf",
    "amp", 8),
    Run("lstm", "train", "f32", 64),
    Run("resnext50_32x4d", "train", "f32", 32), Run("resnext50_32x4d", "train", "amp", 32),
    Run("wide_resnet50_2", "train", "nhwc", 32), Run("regnet_y_1_6gf", "train", "amp", 64),
    Run("efficientnet_v2_s", "train", "nhwc", 32), Run("efficientnet_b0", "train", "f32", 64),
    Run("mnasnet1_0", "train", "amp", 64), Run("squeezenet1_1", "train", "f32", 128), Run("alexnet", "train", "f32",
    128),
    Run("inception_v3", "train", "f32", 32), Run("inception_v3", "inf", "amp", 64), Run("resnet101", "inf", "strict",
    32),
    Run("swin_t", "train", "amp", 32), Run("dcgan", "train", "f32", 128), Run("gru", "train", "f32", 32),
    Run("t5", "train", "f32", 16), Run("llama", "train", "amp", 4), Run("llama", "inf", "amp", 1),
    Run("bert_large", "inf", "f32", 8), Run("bert_large", "train", "f32", 2), Run("gpt2_large", "inf", "f32", 4),
    Run("gpt2_large", "train", "f32", 2),
]


def network(name: str) -> tuple[nn.Module, tuple[int, ...], int, bool]:
    """A network, the shape of one sample, its classes, and whether samples are numbers of words."""
    if name == "linear":
        return nn.Linear(10, 2), (10,), 2, False
    if name == "unet":
        return UNet(), (3, 256, 256), 0, False
    if name == "lstm":
        return Words(), (128,), 10_000, True
    if name == "gru":
        return Words(nn.GRU), (256,), 10_000, True
    if name == "dcgan":
        return Pictures(), (100, 1, 1), 0, False
    if name in ("bert", "bert_large", "gpt2", "gpt2_large", "llama", "t5"):
        return of_words(name)
    import torchvision

    more = {"init_weights": False} if name in ("vgg16", "inception_v3") else {}
    if name == "inception_v3":
        more["aux_logits"] = False
    return getattr(torchvision.models, name)(weights=None, **more), (3, 224, 224), 1000, False


def of_words(name: str) -> tuple[nn.Module, tuple[int, ...], int, bool]:
    """The same for networks of Hugging Face's transformers; the large ones compute attention op by op."""
    import transformers as hf

    if name.startswith("bert"):
        large = dict(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096,
                     attn_implementation="eager") if name == "bert_large" else {}
        return hf.BertForMaskedLM(hf.BertConfig(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
            **large)), (512,), 30_522, True
    if name == "llama":
        config = hf.LlamaConfig(vocab_size=32_000, hidden_size=2048, intermediate_size=5632, num_hidden_layers=22,
                                num_attention_heads=32, num_key_value_heads=4, use_cache=False)
        return hf.LlamaForCausalLM(config), (1024,), 32_000, True
    if name == "t5":
        return Translated(hf.T5ForConditionalGeneration(hf.T5Config(decoder_start_token_id=0,
            dropout_rate=0.0))), (256,), 32_128, True
    large = dict(n_embd=1280, n_layer=36, n_head=20, attn_implementation="eager") if name == "gpt2_large" else {}
    config = hf.GPT2Config(resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, **large)
    return hf.GPT2LMHeadModel(config), (1024,), 50_257, True


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
    """Words as numbers, a two-layer LSTM or GRU, a score for each word."""

    def __init__(self, kind: type[nn.LSTM] | type[nn.GRU] = nn.LSTM) -> None:
        super().__init__()
        self.words, self.lstm, self.head = nn.Embedding(10_000, 512), kind(512, 512, 2,
            batch_first=True), nn.Linear(512, 10_000)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.lstm(self.words(x))[0])


class Pictures(nn.Module):
    """A generator of pictures of 64×64 and what tells them from real ones (Radford et al. 2015)."""

    def __init__(self) -> None:
        super().__init__()
        widths = [100, 512, 256, 128, 64, 3]
        layers: list[nn.Module] = []
        for i, (a, b) in enumerate(zip(widths, widths[1:])):
            layers += [nn.ConvTranspose2d(a, b, 4, 1 + (i > 0), int(i > 0), bias=False), nn.BatchNorm2d(b),
                nn.ReLU(True)]
        layers[-2:] = [nn.Tanh()]
        for i, (a, b) in enumerate(zip(widths[::-1], [64, 128, 256, 512, 1])):
            layers += [nn.Conv2d(a, b, 4, 2 - (i == 4), int(i < 4), bias=False), nn.BatchNorm2d(b), nn.LeakyReLU(0.2,
                True)]
        self.layers = nn.Sequential(*layers[:-2])

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class Translated(nn.Module):
    """A network that is taught to say what it was told."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor) -> Tensor:
        return self.model(input_ids=x, labels=x).logits


def prepared(run: Run, device: str) -> Callable[[], object]:
    """One step: forward, and in training backward and the optimizer, on inputs that stay on the device."""
    torch.manual_seed(0)
    torch.backends.cudnn.allow_tf32 = run.precision != "strict"
    model, shape, classes, words = network(run.network)
    model = model.to(device)
    if run.precision == "nhwc":
        model = model.to(memory_format=torch.channels_last)
    x = torch.randint(0, classes, (run.batch, *shape), device=device) if words else torch.rand(run.batch, *shape,
        device=device)
    if run.precision == "nhwc":
        x = x.to(memory_format=torch.channels_last)
    labels = (run.batch, *shape) if words else (run.batch,)
    y = torch.randint(0, classes, labels, device=device) if classes else torch.rand(run.batch, 1, *shape[1:],
        device=device)
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
