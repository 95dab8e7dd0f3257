"""Printed text: words that must be the same, numbers that must be close, times that need not be."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from .tolerance import Found

_NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?:\d+(?:_\d{3})*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?j?(?![\w])|(?<!\w)[-+]?(?:nan|inf)(?!\w)"
    r"|(?<=\d)[-+](?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?j?(?!\w)"
)
#: A number with a unit of time or of a rate, or behind a word that says it is one.
_TIMED = re.compile(
    r"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?\s?"
    r"(?:s|ms|us|µs|μs|ns|sec|secs|seconds?|msec|milliseconds?|microseconds?|min|minutes?|hours?"
    r"|[kKMGTP]?(?:FLOPS?|FLOP/s|flops?|flop/s|B/s|iB/s|bytes/s)|it/s|fps|(?:\w+)/(?:s|sec|second)"
    r"|x faster|× faster)(?![\w])",
)
_TIME_WORD = re.compile(
    r"\b(?:elapsed|took|takes|duration|wall[- ]?(?:time|clock)?|run ?time|exec(?:ution)? time|cpu time|gpu time"
    r"|time(?: taken| spent| per \w+)?|speed-?up|throughput)\b\W{0,4}(?:of |is |in |was |for \w+ )?"
    r"[-+]?\d[\d.]*(?:[eE][-+]?\d+)?",
    re.IGNORECASE,
)
_TIME = "\u23f1"


def compare(
    ours: str, theirs: str, what: str, tolerance: float, found: Found, words_matter: bool = True
) -> None:
    """Compare two texts line by line; `ours` is the reference."""
    left, right = _lines(ours), _lines(theirs)
    if len(left) != len(right) and not words_matter:
        found.left_out.append(f"{what}: {len(left)} lines against {len(right)}")
        return
    for number, (one, other) in enumerate(zip(left, right), 1):
        found.lines += 1
        _line(one, other, f"{what}, line {number}", tolerance, found, words_matter)
    if len(left) != len(right):
        longer = left if len(left) > len(right) else right
        more = longer[min(len(left), len(right))]
        words = f"{what} has {len(left)} lines on one side and {len(right)} on the other: `{_short(more)}`"
        found.differs(f"{what}, number of lines", words)


def _lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    # Progress bars write over their line: what stands at its end counts.
    lines = [line.rsplit("\r", 1)[-1] for line in lines]
    return [line for line in lines if line.strip()]


def without_times(line: str) -> str:
    """The line with every time and rate replaced by one mark."""
    return _TIME_WORD.sub(_TIME, _TIMED.sub(_TIME, line))


def _tokens(line: str) -> Iterator[tuple[str, bool]]:
    """Words and numbers of a line, each with whether it is a number; spaces do not count."""
    line = without_times(line)
    at = 0
    for match in _NUMBER.finditer(line):
        if words := _words(line[at : match.start()]):
            yield words, False
        yield match[0], True
        at = match.end()
    if words := _words(line[at:]):
        yield words, False


def _words(text: str) -> str:
    # A mark of a time may follow another word on the other side: the marks alone say nothing.
    return "".join(text.replace(_TIME, " ").split())


_TRUTH = re.compile(r"\b(?:True|False|None)\b")


def _line(one: str, other: str, what: str, tolerance: float, found: Found, words_matter: bool) -> None:
    left, right = list(_tokens(one)), list(_tokens(other))
    numbers = [token for token, is_number in left if is_number], [token for token, is_number in right if is_number]
    if words_matter:
        same = [token for token, number in left if not number] == [token for token, number in right if not number]
    else:
        same = _TRUTH.findall(one) == _TRUTH.findall(other)
        if same and len(numbers[0]) != len(numbers[1]):
            found.left_out.append(f"{what}: other numbers are printed")
            return
    if not same or len(numbers[0]) != len(numbers[1]):
        found.differs(what, f"{what}: `{_short(one)}` against `{_short(other)}`")
        return
    for first, second in zip(*numbers):
        found.numbers += 1
        relative = _apart(first, second)
        if relative <= tolerance or _last_digit(first, second):
            found.near(what, relative if relative <= tolerance else 0.0)
        else:
            found.differs(what, f"{what}: {first} against {second} (`{_short(one)}`)", relative)


def _value(text: str) -> complex:
    return complex(text.replace("_", ""))


def _apart(first: str, second: str) -> float:
    """Relative difference of two printed numbers; whole numbers are the same or not."""
    if first == second:
        return 0.0
    a, b = _value(first), _value(second)
    if a == b or (math.isnan(abs(a)) and math.isnan(abs(b))):
        return 0.0
    if _is_whole(first) and _is_whole(second) and max(abs(a), abs(b)) < 1e6:
        return math.inf
    largest = max(abs(a), abs(b))
    if not math.isfinite(largest):
        return math.inf
    return abs(a - b) / largest if largest else 0.0


def _is_whole(text: str) -> bool:
    return text.lstrip("+-").replace("_", "").isdigit()


def _last_digit(first: str, second: str) -> bool:
    """Whether two numbers differ by no more than one in the last place that both print."""
    if _is_whole(first) or _is_whole(second):
        return False
    a, b = _value(first), _value(second)
    if not (math.isfinite(abs(a)) and math.isfinite(abs(b))):
        return False
    return abs(a - b) <= 1.01 * max(_place(first), _place(second))


def _place(text: str) -> float:
    """What one in the last printed place is worth. A number with few digits was not rounded, and is worth nothing."""
    mantissa, _, exponent = text.rstrip("j").lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    if len(mantissa.strip("+-0.").replace(".", "")) < 2 and not exponent:
        return 10.0**-decimals if decimals >= 2 else 0.0
    return float(10.0 ** (int(exponent or 0) - decimals))


def _short(line: str) -> str:
    line = line.strip()
    return line if len(line) <= 80 else line[:77] + "…"
