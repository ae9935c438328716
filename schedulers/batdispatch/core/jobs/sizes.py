"""The sizes that a job may have, and how it goes from one to another: read and written for every format and protocol.

The field ``sizes`` of a job's JSON object is an object with these keys; all but the first two may be left out:

===============  ===================================================================================================
``least``        smallest number of units
``most``         largest number of units
``factor``       a resize multiplies or divides the number of units by a power of it (2)
``preferred``    the number of units that the application would like to have
``kind``         ``moldable``: another size may be chosen when the job starts; ``malleable``: also while it runs;
                 ``evolving``: it runs with the size that it asks for itself, see `asks` (``moldable``)
``steps``        equal steps of the job's work; between two of them is a reconfiguring point, at which it can be resized
``period``       seconds after a check of the size within which further reconfiguring points are ignored (0)
``data``         bytes that are redistributed by a resize (0)
``scalability``  how its speed depends on the size (``linear``), see `batdispatch.core.jobs.scalability`
``asks``         what the application asks for as it gets on: objects with ``step``, and ``least`` or ``most`` or both
===============  ===================================================================================================
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any, Literal, get_args

import msgspec

from batdispatch.core.errors import FieldError
from batdispatch.core.jobs.scalability import GRAMMAR, LINEAR, Scalability, parse_scalability

#: Most units that a job may ask for: Batsim counts them in 32 bits.
MAX_UNITS = 2**31 - 1
#: Most steps of a job, most requests for another size, longest period in seconds, and most bytes redistributed.
MAX_STEPS, MAX_ASKS, MAX_PERIOD, MAX_DATA = 10**9, 10_000, 1e9, 1e18

#: What is said only of jobs that are resized while they run.
RESIZE_FIELDS = ("steps", "period", "data", "asks")

#: How a job may change its size, see above.
Kind = Literal["moldable", "malleable", "evolving"]


class Ask(msgspec.Struct, frozen=True):
    """What an application asks for from a step on, until it asks for something else."""

    #: Number of steps that are over.
    step: int
    #: Fewest and most units that will do; None: it does not say.
    least: int | None = None
    most: int | None = None


class Sizes(msgspec.Struct, frozen=True):
    """The sizes, in units, that a malleable, evolving or moldable job may have.

    From a size the job can go to this size times or over a power of `factor`, between `least` and `most`.
    """

    least: int
    most: int
    factor: int = 2
    preferred: int | None = None
    kind: Kind = "moldable"
    #: Equal steps of the work.
    steps: int = 1
    #: Seconds after a check within which reconfiguring points are ignored.
    period: float = 0.0
    #: Bytes that a resize redistributes.
    data: float = 0.0
    scalability: Scalability = LINEAR
    #: What the application asks for, in ascending order of steps.
    asks: tuple[Ask, ...] = ()

    @property
    def resizable(self) -> bool:
        """Whether the job may change its size while it runs."""
        return self.kind != "moldable"

    def above(self, units: int) -> list[int]:
        """Return the sizes that can be reached from a size by expansion, in ascending order."""
        found = []
        while (units := units * self.factor) <= self.most:
            found.append(units)
        return found

    def below(self, units: int) -> list[int]:
        """Return the sizes that can be reached from a size by a shrink, in descending order."""
        found = []
        while units % self.factor == 0 and units // self.factor >= self.least:
            units //= self.factor
            found.append(units)
        return found

    def asked(self, step: int) -> Ask | None:
        """Return what the application asks for when some steps are over, or None."""
        at = bisect_right(self.asks, step, key=attrgetter("step"))
        return self.asks[at - 1] if at else None


def read_sizes(value: Any, field: str) -> Sizes:
    """Return the sizes that a job's field states.

    Raises:
        FieldError: it is wrong.
    """
    if type(value) is not dict or not {"least", "most"} <= value.keys():
        raise FieldError(field, value, 'an object such as {"least": 2, "most": 32, "factor": 2, "preferred": 8}')
    for name, given in value.items():
        if name not in Sizes.__struct_fields__:
            raise FieldError(f"{field}.{name}", given, f"no other keys than {', '.join(Sizes.__struct_fields__)}")
    said = {name: _READERS[name](given, f"{field}.{name}") for name, given in value.items()}
    sizes = Sizes(**said)
    if not sizes.least <= (sizes.least if sizes.preferred is None else sizes.preferred) <= sizes.most:
        raise FieldError(field, value, "least <= preferred <= most")
    if sizes.resizable and sizes.steps < 2:
        raise FieldError(f"{field}.steps", value.get("steps"), f"at least 2 of a job that is {sizes.kind}")
    for index, ask in enumerate(sizes.asks):
        # The job would wait for ever for a size that it cannot have, and no policy would be asked.
        if ask.least is not None and ask.least > sizes.most:
            raise FieldError(f"{field}.asks[{index}].least", ask.least, f"at most {sizes.most}, the job's most")
        if ask.most is not None and ask.most < sizes.least:
            raise FieldError(f"{field}.asks[{index}].most", ask.most, f"at least {sizes.least}, the job's least")
    if "kind" not in value and (unused := next((name for name in RESIZE_FIELDS if name in value), None)) is not None:
        expected = f"malleable or evolving: {unused!r} is said, which is nothing to a job that is never resized"
        raise FieldError(f"{field}.kind", None, expected)
    if not sizes.scalability.covers(sizes.least, sizes.most):
        expected = f"a table from at most {sizes.least} to at least {sizes.most} units"
        raise FieldError(f"{field}.scalability", sizes.scalability.text, expected)
    return sizes


def write_sizes(sizes: Sizes) -> dict[str, Any]:
    """Return the object that states some sizes, without what holds anyhow."""
    told = {name: getattr(sizes, name) for name in Sizes.__struct_fields__}
    usual = dict(
        zip(Sizes.__struct_fields__[-len(Sizes.__struct_defaults__) :], Sizes.__struct_defaults__, strict=True)
    )
    found = {name: value for name, value in told.items() if name == "factor" or value != usual.get(name)}
    if any(name in found for name in RESIZE_FIELDS):
        found["kind"] = sizes.kind
    if "scalability" in found:
        found["scalability"] = sizes.scalability.text
    if "asks" in found:
        found["asks"] = [
            {name: each for name in Ask.__struct_fields__ if (each := getattr(ask, name)) is not None}
            for ask in sizes.asks
        ]
    return found


# ---------------------------------------------------------------------- one reader for each key


def _whole(least: int, most: int, value: Any, field: str) -> int:
    if type(value) is not int or not least <= value <= most:
        raise FieldError(field, value, f"a whole number from {least} to {most}")
    return value


def _amount(most: float, what: str, value: Any, field: str) -> float:
    if type(value) not in (int, float) or not 0 <= value <= most:
        raise FieldError(field, value, f"{what} from 0 to {most:g}")
    return float(value)


def _kind(value: Any, field: str) -> Kind:
    if value not in get_args(Kind):
        raise FieldError(field, value, f"one of {', '.join(get_args(Kind))}")
    return value  # type: ignore[no-any-return]


def _scalability(value: Any, field: str) -> Scalability:
    found = parse_scalability(value) if type(value) is str else None
    if found is None:
        raise FieldError(field, value, GRAMMAR)
    return found


def _asks(value: Any, field: str) -> tuple[Ask, ...]:
    if type(value) is not list or len(value) > MAX_ASKS:
        raise FieldError(field, value, f"a list of at most {MAX_ASKS} objects")
    asks = tuple(_ask(each, f"{field}[{index}]") for index, each in enumerate(value))
    for index, (one, other) in enumerate(itertools.pairwise(asks)):
        if one.step >= other.step:
            raise FieldError(f"{field}[{index + 1}].step", other.step, f"more than {one.step}, the step before")
    return asks


def _ask(value: Any, field: str) -> Ask:
    if type(value) is not dict or not {"step"} < value.keys() <= {"step", "least", "most"}:
        raise FieldError(field, value, 'an object such as {"step": 10, "least": 8}')
    ask = Ask(
        _whole(0, MAX_STEPS, value["step"], f"{field}.step"),
        *(
            _whole(1, MAX_UNITS, value[name], f"{field}.{name}") if name in value else None
            for name in ("least", "most")
        ),
    )
    if ask.least is not None and ask.most is not None and ask.least > ask.most:
        raise FieldError(field, value, "least <= most")
    return ask


#: Key -> how it is read.
_READERS: dict[str, Callable[[Any, str], Any]] = {
    "least": partial(_whole, 1, MAX_UNITS),
    "most": partial(_whole, 1, MAX_UNITS),
    "factor": partial(_whole, 2, MAX_UNITS),
    "preferred": partial(_whole, 1, MAX_UNITS),
    "kind": _kind,
    "steps": partial(_whole, 1, MAX_STEPS),
    "period": partial(_amount, MAX_PERIOD, "seconds"),
    "data": partial(_amount, MAX_DATA, "bytes"),
    "scalability": _scalability,
    "asks": _asks,
}
