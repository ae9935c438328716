"""What a start rule is, what it sees, what it answers, and how one is found by name."""

from __future__ import annotations

from abc import ABC, abstractmethod

import msgspec

from batdispatch.abilities.power.machine.series import Series
from batdispatch.core.jobs.job import Job
from batdispatch.core.line import registry
from batdispatch.core.line.options import Part

#: Entry-point group in which a package announces its start rules.
GROUP = "batdispatch.starts"


class Flexibility(msgspec.Struct, frozen=True, kw_only=True):
    """A job that may wait, and what it pays."""

    job: Job
    #: When it came, and until when it may be kept back, s.
    now: float
    latest: float
    #: How long it is expected to run, s.
    length: float
    #: Price of a kilowatt-hour, in money, grams of carbon dioxide or litres of water.
    price: Series


class StartRule(Part, ABC):
    """Says until when a job is kept back; asked once, when the job comes."""

    @abstractmethod
    def choose(self, wait: Flexibility) -> float:
        """Return when the dispatcher is to see the job, in s, from `Flexibility.now` to `Flexibility.latest`."""


def make_start(text: str) -> StartRule:
    """Build a start rule from its name, with options in brackets if any.

    Raises:
        InputError: there is none of that name, or an option is wrong.
    """
    return registry.make(GROUP, text, StartRule, "start rule")
