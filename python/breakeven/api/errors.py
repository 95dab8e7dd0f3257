"""What can be wrong with what the engine was asked, as exceptions."""

from __future__ import annotations


class BreakevenError(Exception):
    """The engine's refusal. `code` is stable (`unknown-gpu`), `hint` says the next step, `field` names the input."""

    def __init__(self, message: str, code: str = "internal", hint: str | None = None, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint
        self.field = field

    def __str__(self) -> str:
        message = str(self.args[0])
        return message if self.hint is None else f"{message}\n hint: {self.hint}"


class InputError(BreakevenError, ValueError):
    """A quantity, option or workload that does not read, or is out of range."""


class UnknownNameError(InputError, LookupError):
    """A GPU, CPU, region, precision or kind of work that is not in the catalogue."""


class UnknownKeywordError(InputError, TypeError):
    """A keyword that the function does not take; the message names the nearest that it does."""


def error(code: str, message: str, hint: str | None, field: str | None) -> BreakevenError:
    """The exception for an error object of the engine."""
    kind: type[BreakevenError] = InputError
    if code == "internal":
        kind = BreakevenError
    elif code.startswith("unknown-"):
        kind = UnknownNameError
    return kind(message, code, hint, field)
