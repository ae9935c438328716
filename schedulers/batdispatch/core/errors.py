"""What can go wrong, as the people who use the package see it."""

import re

#: Longest line of a message, in characters; of a longer one, so many at its beginning and at its end are shown.
_MOST, _BEGIN, _END = 2000, 1500, 300
#: Characters that a terminal obeys instead of showing them: controls, marks of the writing direction, line separators;
#: and halves of characters, which cannot be written at all.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Return a text for the terminal: each control character but tab and newline is written as ``\u001b`` is.

    JSON text stays JSON text with the same meaning.
    """
    return _CONTROL.sub(lambda control: f"\\u{ord(control[0]):04x}", text)


def readable(text: str) -> str:
    """Return a message without control characters whose long lines are cut: what was found may be of any length."""
    return "\n".join(_cut(line) for line in printable(text).split("\n"))


def _cut(line: str) -> str:
    left_out = len(line) - _BEGIN - _END
    if len(line) <= _MOST:
        return line
    return f"{line[:_BEGIN]} ... ({left_out:,} characters left out) ... {line[-_END:]}"


class BatdispatchError(Exception):
    """Base of every error that is reported as one readable message and never as a traceback."""

    def __str__(self) -> str:
        return readable(super().__str__())


class InputError(BatdispatchError):
    """A platform, workload, message or option from outside is wrong (exit status 2).

    The message says which file or option, the place inside it, what was found and what was expected.
    """

    def __init__(self, message: str, *, source: str = "", place: str = "") -> None:
        self.message = message
        self.source = source
        self.place = place
        where = ", ".join(part for part in (source, place) if part)
        super().__init__(f"{where}: {message}" if where else message)

    def found_in(self, source: str) -> "InputError":
        """Return the same error with its source, for one raised where only the place was known."""
        return InputError(self.message, source=source, place=self.place)


class ImpossibleDecision(BatdispatchError):
    """A dispatcher decided something the machine cannot do; the run stops before it is sent (exit status 1)."""


class SimulationError(BatdispatchError):
    """A simulation cannot go on, for instance because jobs wait and nothing is left to happen (exit status 1)."""


class DeadlockError(SimulationError):
    """Jobs wait and nothing is left to happen."""


class FieldError(Exception):
    """A field of something from outside is wrong; whoever reads the whole adds where the field stands."""

    def __init__(self, field: str, found: object, expected: str) -> None:
        super().__init__(field)
        self.field = field
        self.found = found
        self.expected = expected
