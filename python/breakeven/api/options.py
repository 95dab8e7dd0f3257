"""What an estimate takes by keyword, written once: name, type, meaning, unit.

Signatures and docstrings of `estimate` and `Recording.estimate`, the answer to a wrong name, and the options of the
notebook's magics are made of it.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import typing
from collections.abc import Callable, Iterable
from typing import Annotated, Any, TypedDict, TypeVar

from .errors import UnknownKeywordError

F = TypeVar("F", bound=Callable[..., Any])

Quantity = float | str
"""A number in the base unit (FLOP, bytes, seconds, FLOP/s, W, USD, a share) or text with one: `"80GiB"`, `"40%"`."""


class Options(TypedDict, total=False):
    """What every estimate takes."""

    cpu: Annotated[str | None, "compare with this CPU instead of the one measured or given"]
    price: Annotated[Quantity | None, "price of one GPU, $/h, from 0"]
    cpu_price: Annotated[Quantity | None, "price of the CPU machine, $/h, from 0"]
    gpu_watts: Annotated[Quantity | None, "board power of one GPU, W"]
    cpu_watts: Annotated[Quantity | None, "power of the CPU, W"]
    electricity: Annotated[Quantity | None, "price of electricity, $/kWh: cost is then that of energy, not of rent"]
    region: Annotated[str | None, "prices, grid and cooling of this country or cloud region"]
    provider: Annotated[str | None, "prices of this cloud; unless gpu is given only the GPUs that it rents"]
    provider_class: Annotated[str | None, "prices of providers of a class alone: cloud, marketplace or all (as it is)"]
    spot: Annotated[bool, "spot prices"]
    max_price: Annotated[Quantity | None, "only GPUs that rent for at most this, $/h"]
    runs_per_month: Annotated[Quantity | None, "also the monthly bill of so many runs"]
    exclude_startup: Annotated[bool, "leave start-up out of the times, on both sides"]
    top: Annotated[int | None, "rows of the GPU table"]
    sort: Annotated[str | None, "value (as it is), speed, cost, energy or name"]
    catalogue: Annotated[str | None, "text that adds GPUs, CPUs, prices and places, or replaces them"]
    machine: Annotated[str | None, "text of a machine file that `breakeven calibrate` wrote"]
    timeline: Annotated[bool, "the answer holds a sketch of the timeline"]
    fail_if: Annotated[str | None, "a policy such as `speedup<2`: the answer says whether it failed"]


class ProgramOptions(Options, total=False):
    """What an estimate of a recorded program takes."""

    host_cpu: Annotated[str | None, "the CPU beside the GPU; the one measured unless given"]
    port: Annotated[str | None, "how the script would be ported: cupy; as-written if it uses a GPU library itself"]
    policy: Annotated[str | None, "resident (arrays stay on the GPU), naive (each call copies) or as-written"]
    precision: Annotated[str | None, "the program in fp64, fp32, or fp32 with products in tf32 or bf16"]
    size: Annotated[Quantity | None, "a problem so many times as large as the recorded one, 0.001 to 1000"]


class Numbers(TypedDict, total=False):
    """The work, the CPU and the GPU as numbers, each from 0."""

    flops: Annotated[Quantity | None, "arithmetic in all, FLOP"]
    matmul: Annotated[Quantity | None, "instead of flops: a product of two matrices of so many rows and columns"]
    parameters: Annotated[Quantity | None, "instead of flops: a transformer of so many, with tokens or new_tokens"]
    tokens: Annotated[Quantity | None, "tokens that the training sees"]
    context: Annotated[Quantity | None, "tokens of a sequence in training, of a prompt in inference; 2048 unless given"]
    new_tokens: Annotated[Quantity | None, "tokens that inference makes one by one"]
    batch: Annotated[Quantity | None, "sequences at a time; 1 unless given"]
    checkpointing: Annotated[bool, "training keeps each layer's input alone and computes its activations anew"]
    elements: Annotated[Quantity | None, "instead of flops: arithmetic on each of so many array elements"]
    operations: Annotated[Quantity | None, "operations on each element; 1 unless given"]
    rows: Annotated[Quantity | None, "instead of flops: a group-by over a dataframe of so many rows"]
    columns: Annotated[Quantity | None, "columns of the dataframe; 10 unless given"]
    verb: Annotated[str | None, "what is done with its rows: join, group-by, sort, filter, contains"]
    bytes: Annotated[Quantity | None, "bytes that the work moves through memory"]
    data: Annotated[Quantity | None, "bytes copied to the GPU"]
    data_out: Annotated[Quantity | None, "bytes copied back; as many as data unless given, or the result of a size"]
    link: Annotated[Quantity | None, "rate of the copies, B/s"]
    pcie: Annotated[Quantity | None, "the same by its name: 4.0, 5.0 x8"]
    init: Annotated[Quantity | None, "initialisation, s"]
    kind: Annotated[str | None, "training, inference, simulation or array"]
    precision: Annotated[str | None, "fp64, fp32, tf32, fp16, bf16, fp8 or int8; fp32 unless given"]
    cpu_rate: Annotated[Quantity | None, "what the CPU reaches, FLOP/s"]
    cpu_time: Annotated[Quantity | None, "what the CPU takes, s; with cpu_rate and nothing else this is the work"]
    parallel_fraction: Annotated[Quantity | None, "share of the CPU time that can run on a GPU, 0 to 1"]
    peak: Annotated[Quantity | None, "peak rate of the GPU, FLOP/s, instead of the catalogue's"]
    bandwidth: Annotated[Quantity | None, "memory bandwidth of the GPU, B/s, instead of the catalogue's"]
    utilization: Annotated[Quantity | None, "share of the peak that is reached, 0 to 1"]
    python_overhead: Annotated[Quantity | None, "share of the GPU time lost to Python, 0 to 1"]
    workload_factor: Annotated[Quantity | None, "factor for the kind of work, instead of the table's"]
    precision_factor: Annotated[Quantity | None, "factor for the precision, instead of the table's"]
    values: Annotated[Quantity | None, "values held in memory: shows the footprint by precision"]
    gpus: Annotated[Quantity | None, "GPUs used together"]
    scaling_efficiency: Annotated[Quantity | None, "efficiency of each further GPU, 0 to 1"]


class Inputs(Numbers, Options, total=False):
    """What an estimate from numbers takes."""


class Keyword(typing.NamedTuple):
    """One keyword: what it may be, and what it means."""

    kind: Any
    meaning: str


@functools.cache
def keywords(kinds: type) -> dict[str, Keyword]:
    """Those of one of the classes above, by name."""
    hints = typing.get_type_hints(kinds, include_extras=True)
    return {name: Keyword(*typing.get_args(hint)) for name, hint in hints.items()}


def takes(kinds: type) -> Callable[[F], F]:
    """Decorates a function that collects its keywords: its signature and docstring name those of `kinds`, and another
    name is an error that tells the nearest."""

    def decorate(function: F) -> F:
        known = keywords(kinds)
        plain = inspect.signature(function)
        own = [each for each in plain.parameters.values() if each.kind is not each.VAR_KEYWORD]
        for name, (kind, _) in known.items():
            default = False if kind is bool else None
            own.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind))
        names = [each.name for each in own if each.name != "self"]

        @functools.wraps(function)
        def checked(*positional: Any, **given: Any) -> Any:
            for name in given:
                # Options of recorded programs are known to the engine, which says why they do not go with numbers.
                if name not in names and name not in keywords(ProgramOptions):
                    raise unknown(f"{function.__qualname__}() takes no `{name}`", name, names)
            return function(*positional, **given)

        checked.__signature__ = plain.replace(parameters=own)  # type: ignore[attr-defined]
        listed = "\n".join(f"    {name}: {meaning}" for name, (_, meaning) in known.items())
        checked.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\nKeywords:\n{listed}\n"
        return checked  # type: ignore[return-value]

    return decorate


def unknown(what: str, given: str, names: Iterable[str], show: Callable[[str], str] = str) -> UnknownKeywordError:
    """The error for a name that is none, in one line with the nearest that is, as `show` writes it."""
    near = difflib.get_close_matches(given, names, n=1)
    return UnknownKeywordError(f"{what}; did you mean `{show(near[0])}`?" if near else what, "bad-request")
