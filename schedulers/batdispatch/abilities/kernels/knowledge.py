"""What each kernel knows: one table for each, which is all that says for whom it can decide.

All kernels know a number of whole hosts, nodes that jobs share, partitions, features and licences; orderings that do
not change while a job waits; the prediction `requested`. `applies` asks these tables, and says in words what they lack.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from batdispatch.abilities.kernels.columns import SLURM, path_of
from batdispatch.abilities.kernels.slurm import FINITE
from batdispatch.dispatchers.backfilling.conservative import Conservative
from batdispatch.dispatchers.backfilling.easy import Easy
from batdispatch.dispatchers.backfilling.fcfs import Fcfs
from batdispatch.dispatchers.backfilling.filler import Filler
from batdispatch.parts.placement.base import Placement
from batdispatch.parts.placement.consecutive import Consecutive
from batdispatch.parts.placement.first_fit import FirstFit


class Foresight(NamedTuple):
    """Where jobs may outlive what is expected of them, by a prediction or where they have no walltime.

    Attributes:
        changing_order: under an ordering that changes while jobs wait.
        reservations: on a machine with reservations.
        partitions: on whole hosts of partitions.
    """

    changing_order: bool
    reservations: bool
    partitions: bool


class Knowledge(NamedTuple):
    """What a kernel knows beyond what all kernels do.

    Attributes:
        name: of its dispatcher.
        placements: that it has.
        changing_order: whether the ordering may change while jobs wait.
        guarded: whether the ordering may be `guarded` around another one.
        foresight: where jobs may outlive what is expected of them; None: nowhere.
        reservations: whether the machine may have reservations.
        sleepers: whether hosts may sleep.
        weights: whether whole hosts may have weights; True for a dispatcher that heeds none.
        finite: options, seconds, that must be finite.
        fixed: option -> the one value that it may have, and a sentence about that without its full stop.
        is_called: whether the dispatcher asks to be called.
        no_queue: why it simulates no queue of jobs that run and wait already; empty: it does.
    """

    name: str
    placements: tuple[type[Placement], ...] = (FirstFit,)
    changing_order: bool = True
    guarded: bool = False
    foresight: Foresight | None = None
    reservations: bool = True
    sleepers: bool = True
    weights: bool = True
    finite: tuple[str, ...] = ()
    fixed: Mapping[str, tuple[object, str]] = {}
    is_called: bool = False
    no_queue: str = ""


#: By the path of the dispatcher's class, which need not be installed. One that is derived from it may decide otherwise.
KNOWLEDGE: Mapping[str, Knowledge] = {
    path_of(Fcfs): Knowledge("fcfs"),
    path_of(Filler): Knowledge("filler"),
    path_of(Easy): Knowledge(
        "easy",
        guarded=True,
        foresight=Foresight(
            changing_order=True,
            # In Python, a run time is predicted when reservations first leave a place to the job.
            reservations=False,
            # There, in Python it depends on the jobs that have come whether hosts are counted.
            partitions=False,
        ),
    ),
    path_of(Conservative): Knowledge("conservative", changing_order=False, reservations=False),
    SLURM: Knowledge(
        "slurm-backfill",
        placements=(FirstFit, Consecutive),
        foresight=Foresight(
            # There, a job's run time is predicted when a loop first looks for the order, and not when the job comes.
            changing_order=False,
            reservations=True,
            partitions=True,
        ),
        sleepers=False,
        weights=False,
        finite=FINITE,
        fixed={
            "preempt": ("none", "the kernel of slurm-backfill preempts no job"),
            **{
                name: (0, f"the kernel of slurm-backfill knows no {name}") for name in ("loop_starts", "loop_part_jobs")
            },
            "notice": (0.0, "the kernel of slurm-backfill hears of everything at once, and notice is not 0"),
        },
        is_called=True,
        no_queue="it tries so many jobs at a time, so a queue's running jobs would not all start at once",
    ),
}


def knowledge_of(dispatcher: object) -> Knowledge | None:
    """Return what the kernel of a dispatcher knows, or None if it has no kernel."""
    return KNOWLEDGE.get(path_of(type(dispatcher)))


def names(*, sleepers: bool = False) -> str:
    """Return the names of the dispatchers that have a kernel; `sleepers`: one that knows hosts that sleep."""
    return ", ".join(sorted(each.name for each in KNOWLEDGE.values() if each.sleepers or not sleepers))
