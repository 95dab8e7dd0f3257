"""Whether this machine's memory is about to run out, told while there is still time to write it down."""

from __future__ import annotations

from . import _endings, _native

#: Memory is looked at whenever this much more has been made.
_OFTEN = 64 << 20
#: What a process should leave to others.
_SPARE = 256 << 20

_since = 0
_told = False


def made(size: int) -> None:
    """A storage of `size` bytes exists, though perhaps not yet its pages: will they fit?"""
    global _since, _told
    _since += size
    if _since < _OFTEN or _told:
        return
    _since = 0
    left = _available()
    if left is None or size + _SPARE <= left:
        return
    _told = True
    text = (
        f"this machine had {left / 1e9:.1f} GB of memory left when a tensor of {size / 1e9:.1f} GB was made: where the "
        "script does not fit, `--fake` records it without values"
    )
    _native.unseen("memory-short", text)
    if _endings.path:
        # The system may end this process without a word.
        _native.flush(_endings.path)


def _available() -> int | None:
    try:
        with open("/proc/meminfo", "rb", 0) as file:
            for line in file.read().splitlines():
                if line.startswith(b"MemAvailable:"):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    return None
