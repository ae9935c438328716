"""What a dispatcher is shown of a recorded decision when it is asked why a job waited on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from batdispatch.core.allocation import Allocation
from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger


class Hindsight(NamedTuple):
    """A recorded decision, as it was before it took effect."""

    #: The cluster: the jobs that are about to start still wait.
    ledger: Ledger
    #: The jobs that the decision starts, and where, in this order.
    started: Sequence[tuple[Job, Allocation]]
    #: The line of solver.jsonl of this moment; None: there is none, so that no plan was made.
    note: Mapping[str, Any] | None
    #: Time of the line before it, s; None: it is the first.
    before: float | None


class Reason(NamedTuple):
    """Why a job waited on: in a few words that are equal for equal reasons, and what was behind it this time."""

    why: str
    how: str = ""
